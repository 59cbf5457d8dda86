/**
 * A reader for the tar format of npm tarballs: regular files in order, as they stream by, with the long names of
 * pax and GNU. The archive is not trusted: sizes, counts and names are bounded and checked, checksums verified,
 * and a file that ends early is an error. Nothing is written here.
 */
const BLOCK = 512;
const LONG_NAME_BYTES = 64 * 1024;

/** Bounds of one archive; `readTar` takes others. */
export const TAR_LIMITS = { entries: 10_000, totalBytes: 512 * 1024 * 1024 };

export class TarError extends Error {}

const text = (block, from, length) => {
  const field = block.subarray(from, from + length);
  const end = field.indexOf(0);
  return field.subarray(0, end < 0 ? length : end).toString('utf8');
};

function octal(block, from, length, what) {
  const digits = text(block, from, length).trim();
  if (!/^[0-7]{1,11}$/.test(digits)) throw new TarError(`bad ${what} in a header`);
  return Number.parseInt(digits, 8);
}

function checkSum(block) {
  let sum = 0;
  for (let i = 0; i < BLOCK; i++) sum += i >= 148 && i < 156 ? 32 : block[i];
  if (sum !== octal(block, 148, 8, 'checksum')) throw new TarError('a header is damaged');
}

function header(block) {
  checkSum(block);
  const prefix = text(block, 257, 5) === 'ustar' ? text(block, 345, 155) : '';
  const name = text(block, 0, 100);
  return {
    name: prefix ? `${prefix}/${name}` : name,
    size: octal(block, 124, 12, 'size'),
    type: String.fromCharCode(block[156] || 48),
  };
}

/** The `path` of a pax record block (`<length> <key>=<value>\n`), if it has one. */
function paxPath(data) {
  for (let at = 0; at < data.length;) {
    const blank = data.indexOf(32, at);
    const length = Number(data.toString('latin1', at, blank < 0 ? at : blank));
    if (blank < 0 || !Number.isInteger(length) || length < 5 || at + length > data.length)
      throw new TarError('bad pax header');
    const record = data.toString('utf8', blank + 1, at + length - 1);
    if (record.startsWith('size=')) throw new TarError('a file is too large for its header');
    if (record.startsWith('path=')) return record.slice(5);
    at += length;
  }
  return undefined;
}

function safeName(name) {
  const unsafe = !name || name.startsWith('/') || /[\\\0]/.test(name) || name.split('/').includes('..');
  if (unsafe) throw new TarError(`unsafe name ${JSON.stringify(name.slice(0, 100))}`);
  return name;
}

/** Bytes of an async iterable, handed out in the amounts asked for. */
class ByteSource {
  #chunks;
  #rest = Buffer.alloc(0);

  constructor(stream) {
    this.#chunks = stream[Symbol.asyncIterator]();
  }

  /** At least one and at most `most` bytes; undefined at the end. */
  async some(most) {
    while (this.#rest.length === 0) {
      const { value, done } = await this.#chunks.next();
      if (done) return undefined;
      this.#rest = value;
    }
    const taken = this.#rest.subarray(0, most);
    this.#rest = this.#rest.subarray(taken.length);
    return taken;
  }

  /** Exactly `size` bytes, in chunks. A second loop goes on where the first one was left. */
  exactly(size) {
    let left = size;
    const next = async () => {
      if (left === 0) return { value: undefined, done: true };
      const value = await this.some(left);
      if (!value) throw new TarError('the archive ends early');
      left -= value.length;
      return { value, done: false };
    };
    return { [Symbol.asyncIterator]: () => ({ next }) };
  }

  /** Reads the rest behind the end mark, so that whoever hashes the stream has seen all of it. */
  async drain(most) {
    let left = most;
    for (let chunk; (chunk = await this.some(Infinity)); left -= chunk.length)
      if (chunk.length > left) throw new TarError('too much follows the archive');
  }

  async whole(size) {
    const chunks = [];
    for await (const chunk of this.exactly(size)) chunks.push(chunk);
    return Buffer.concat(chunks);
  }
}

/** Reads a body to its end. */
async function skip(data) {
  const bytes = data[Symbol.asyncIterator]();
  while (!(await bytes.next()).done);
}

const REGULAR = new Set(['0', '7']);
const LONG_NAMES = {
  x: paxPath,
  L: (data) => data.toString('utf8').replace(/\0.*$/s, ''),
};

/**
 * Yields `{ name, size, data }` for each regular file, `data` an async iterable of its bytes. What the
 * consumer does not read is skipped. Links, folders and devices are passed over. Throws TarError.
 */
export async function* readTar(stream, limits = TAR_LIMITS) {
  const source = new ByteSource(stream);
  let total = 0;
  let longName;
  for (let entries = 0; ; entries++) {
    const block = await source.whole(BLOCK);
    if (block.every((byte) => byte === 0)) return source.drain(limits.totalBytes);
    const { name, size, type } = header(block);
    total += size;
    if (entries >= limits.entries) throw new TarError('the archive holds too many files');
    if (total > limits.totalBytes) throw new TarError('the archive unpacks to too much');
    const padding = (BLOCK - (size % BLOCK)) % BLOCK;
    const nameOf = LONG_NAMES[type];
    if (nameOf) {
      if (size > LONG_NAME_BYTES) throw new TarError('a name is too long');
      longName = nameOf(await source.whole(size)) ?? longName;
    } else {
      const data = source.exactly(size);
      if (REGULAR.has(type)) yield { name: safeName(longName ?? name), size, data };
      await skip(data);
      longName = undefined;
    }
    await source.whole(padding);
  }
}
