/** Lines of progress on stderr: on a terminal one that changes, elsewhere one a few seconds. */
const EVERY_MS = 5000;

export function createProgress(stream: NodeJS.WriteStream = process.stderr) {
  let [shownAt, scenarioBefore] = [-Infinity, ''];
  const begun = performance.now();
  return {
    say(scenario: string, text: string): void {
      const now = performance.now();
      const line = `${((now - begun) / 1000).toFixed(0).padStart(4)} s  ${scenario}: ${text}`;
      if (stream.isTTY) return void stream.write(`\r\u001b[K${line.slice(0, stream.columns - 1)}`);
      if (scenario === scenarioBefore && now - shownAt < EVERY_MS) return;
      [shownAt, scenarioBefore] = [now, scenario];
      stream.write(`${line}\n`);
    },
    end(): void {
      if (stream.isTTY) stream.write('\r\u001b[K');
    },
  };
}
