/** The text of another server's response. */
import type { OutboundReply } from '../ports/outbound.js';

const CHARSET = /;\s*charset\s*=\s*"?([^\s";]+)/i;

/** Reads bytes of an unknown charset as UTF-8, and without a label. */
function decoderOf(label: string | undefined) {
  try {
    return new TextDecoder(label);
  } catch {
    return new TextDecoder();
  }
}

/** In the charset of its `content-type`, else UTF-8. A truncated response loses a character that was cut in half. */
export function replyText({
  headers,
  body,
  truncated,
}: Pick<OutboundReply, 'headers' | 'body' | 'truncated'>): string {
  const [, label] = CHARSET.exec(headers['content-type'] ?? '') ?? [];
  return decoderOf(label).decode(body, { stream: truncated });
}
