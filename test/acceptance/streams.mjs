/** Helpers of the acceptance runs: reading a stream whole, breaking one midway, failures. */
import { memberOf } from '../../dist/test/fixtures/processes/family.js';

export async function bytesOf(stream) {
  const chunks = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** The error of a call; undefined where it succeeds. */
export const failureOf = (call) =>
  call.then(
    () => undefined,
    (error) => error,
  );

/** Text that takes hours to speak. */
export const ENDLESS = 'abcdefghi '.repeat(100_000);

/** Kills the gateway's encoding child, and with it all speech that is under way. */
export const breakEncoder = (gateway) => process.kill(memberOf(gateway.pid, 'workers/encode'), 'SIGKILL');

/** 16-bit PCM at 16 kHz of what the gateway itself makes of the text. */
export async function spokenBy(gateway, text) {
  const response = await fetch(`${gateway.base}/v1/tts`, {
    method: 'POST',
    headers: { ...gateway.authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ text, format: 'pcm', sample_rate: 16_000 }),
  });
  if (!response.ok) throw new Error(await response.text());
  return Buffer.from(await response.arrayBuffer());
}

/** The gateway's own transcript of the audio. */
export async function heardBy(gateway, audio) {
  const body = new FormData();
  body.set('audio', new Blob([audio]));
  const { authorization: headers } = gateway;
  const response = await fetch(`${gateway.base}/v1/asr`, { method: 'POST', headers, body });
  return (await response.json()).text;
}

/**
 * Reads the beginning of a web stream, kills the gateway's encoding child, and reads on to the end.
 * Resolves with the bytes where the client took the rest for a success; rejects as the client does.
 */
export async function readBroken(stream, gateway) {
  const reader = stream.getReader();
  let length = (await reader.read()).value.length;
  breakEncoder(gateway);
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return length;
    length += value.length;
  }
}
