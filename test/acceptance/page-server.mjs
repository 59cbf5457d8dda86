/** Pages of tests, on an origin of their own. */
import { createServer } from 'node:http';

export const HTML = 'text/html; charset=utf-8';
export const SCRIPT = 'text/javascript';

/** `answer`: the `{ type, body }` of a path; undefined if there is nothing. */
export async function servePages(answer) {
  const server = createServer((request, response) => {
    const send = (found) =>
      found ? response.setHeader('content-type', found.type).end(found.body) : response.writeHead(404).end();
    answer(request.url).then(send, (error) => response.writeHead(500).end(String(error)));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    origin: `http://127.0.0.1:${server.address().port}`,
    stop() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}
