/** A folder as a web server has it: compressed, below a path. */
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join } from 'node:path';
import { gzipSync } from 'node:zlib';

const TYPES = {
  '.css': 'text/css',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
};

/** Resolves with the address that leads to the folder, and what ends it. `path` begins and ends with a slash. */
export async function serveFolder(folder, path = '/') {
  const compressed = new Map();
  async function read(url) {
    const place = url
      .slice(path.length)
      .replace(/[?#].*$/, '')
      .replace(/(^|\/)$/, '$1index.html');
    if (!compressed.has(place))
      compressed.set(
        place,
        await readFile(join(folder, place)).then(
          (body) => gzipSync(body),
          () => undefined,
        ),
      );
    return { body: compressed.get(place), type: TYPES[extname(place)] ?? 'application/octet-stream' };
  }
  const server = createServer(async ({ url, method }, response) => {
    const { body, type } = await read(url);
    if (!body) return response.writeHead(404).end();
    response.writeHead(200, { 'content-type': type, 'content-encoding': 'gzip' });
    return response.end(method === 'HEAD' ? undefined : body);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    base: `http://127.0.0.1:${server.address().port}${path}`,
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}
