/** Splits chunks of any length into frames of one length; the last is padded with silence. */
export async function* frames(audio: AsyncIterable<Int16Array>, length: number): AsyncGenerator<Int16Array> {
  let frame = new Int16Array(length);
  let filled = 0;
  for await (const chunk of audio) {
    for (let at = 0; at < chunk.length;) {
      const part = chunk.subarray(at, at + length - filled);
      frame.set(part, filled);
      filled += part.length;
      at += part.length;
      if (filled < length) continue;
      yield frame;
      frame = new Int16Array(length);
      filled = 0;
    }
  }
  if (filled > 0) yield frame;
}
