/**
 * The progress of set-up as a person sees it: one line a step when it ends (`setup: packages … 23 s`). A terminal also
 * shows a live line of what is running; elsewhere a step that takes long says so now and then.
 * Everything goes to stderr, so that a command's own output stays clean.
 */
const LIVE_EVERY_MS = 200;
const STILL_EVERY_MS = 20_000;

const seconds = (ms) => (ms < 10_000 ? `${(ms / 1000).toFixed(1)} s` : `${Math.round(ms / 1000)} s`);

/**
 * `run(name, work)` times `work(note)`; `note(text)` sets what the live line says beside the name.
 * Its result is that of `work`.
 */
export function createProgress({ title = 'setup', stream = process.stderr } = {}) {
  const running = new Map();
  const live = Boolean(stream.isTTY);
  let timer;

  const clear = () => live && stream.write('\r\x1b[K');
  const line = (text) => {
    clear();
    stream.write(`${title}: ${text}\n`);
  };
  const describe = ([name, { since, note }]) =>
    `${name} … ${note ? `${note}, ` : ''}${seconds(performance.now() - since)}`;

  function tick() {
    if (!live) return [...running].forEach((step) => line(`${describe(step)}, still at it`));
    const text = `${title}: ${[...running].map(describe).join(' · ')}`;
    clear();
    stream.write(text.slice(0, (stream.columns || 80) - 1));
  }

  function start(name) {
    running.set(name, { since: performance.now(), note: '' });
    timer ??= setInterval(tick, live ? LIVE_EVERY_MS : STILL_EVERY_MS).unref();
  }

  function stop(name, outcome) {
    const { since } = running.get(name);
    running.delete(name);
    if (running.size === 0) {
      clearInterval(timer);
      timer = undefined;
    }
    line(`${name} … ${outcome}${seconds(performance.now() - since)}`);
  }

  async function run(name, work) {
    start(name);
    try {
      const result = await work((note) => (running.get(name).note = note));
      stop(name, '');
      return result;
    } catch (error) {
      stop(name, error.name === 'AbortError' ? 'stopped after ' : 'failed after ');
      throw error;
    }
  }
  return { run, line };
}
