/**
 * A watch over npm's log (`--loglevel=http`) for a registry that fails. npm itself retries in silence, for minutes
 * where every name takes seconds to fail: here the first failure is said at once, so is a registry that says nothing,
 * and npm is given up when nothing but failures has come for a while.
 */
const ANSWERED = /^npm http (?:fetch [A-Z]+ [23]\d\d|cache) /;
const FAILED = / attempt \d+ failed with (\w+)$/;

const SILENCE_MS = 8000;
const PATIENCE_MS = 12_000;

/** Codes of a registry that cannot be reached; a damaged file, say, is none. */
export const UNREACHABLE =
  /\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ERR_SOCKET_TIMEOUT|FETCH_ERROR|ENOTCACHED|EPROTO|[A-Z_]*CERT[A-Z_]*)\b/;
const UNAVAILABLE = /^(429|5\d\d)$/;

const isFailure = (code) => code !== undefined && (UNREACHABLE.test(code) || UNAVAILABLE.test(code));

const inWords = (code) => (/^\d+$/.test(code) ? `answers ${code}` : `could not be reached (${code})`);

/**
 * `line(text)` takes a line of npm's; `end()` stops the watch. `say(text)` is told what is going on, `giveUp(reason)`
 * is called once, at most.
 */
export function watchRegistry({ say, giveUp, silenceMs = SILENCE_MS, patienceMs = PATIENCE_MS }) {
  let failing;
  let patience;
  const silence = setTimeout(() => say('has not answered yet'), silenceMs);

  function answered() {
    clearTimeout(silence);
    clearTimeout(patience);
    failing = undefined;
  }

  function failed(code) {
    clearTimeout(silence);
    const isFirst = failing === undefined;
    failing = code;
    if (!isFirst) return;
    say(`${inWords(code)}; trying again`);
    patience = setTimeout(() => giveUp(inWords(failing)), patienceMs);
  }

  return {
    line(text) {
      const [, code] = FAILED.exec(text) ?? [];
      if (isFailure(code)) failed(code);
      else if (ANSWERED.test(text)) answered();
    },
    end() {
      clearTimeout(silence);
      clearTimeout(patience);
    },
  };
}
