/** What another server's answer says, as text. */
import type { OutboundReply } from './ports/outbound.js';

const CHARSET = /;\s*charset\s*=\s*"?([^\s";]+)/i;

/** Of a charset that nobody knows the bytes are read as UTF-8. */
function decoderOf(label: string) {
  try {
    return new TextDecoder(label);
  } catch {
    return new TextDecoder();
  }
}

/** In the charset that its `content-type` names, else UTF-8. Of one that was cut, without the character that was cut in half. */
export function replyText({
  headers,
  body,
  truncated,
}: Pick<OutboundReply, 'headers' | 'body' | 'truncated'>): string {
  const [, label = 'utf-8'] = CHARSET.exec(headers['content-type'] ?? '') ?? [];
  return decoderOf(label).decode(body, { stream: truncated });
}
