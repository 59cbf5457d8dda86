/**
 * `/widget.js`: the widget (client/src/widget) as a script for pages anywhere, and beside it what it loads when somebody
 * calls. The names are the same in each version, so browsers ask again soon.
 */
import { CHECKOUT } from '../../../contracts/places.js';
import type { Route } from '../port.js';
import { builtFile, takesGzip } from './built-file.js';

const FOLDER = new URL('bundle/widget/', CHECKOUT);
const NAMES = ['widget.js', 'widget-call.js'];

const HEADERS = {
  'content-type': 'text/javascript; charset=utf-8',
  'cache-control': 'public, max-age=300',
  'cross-origin-resource-policy': 'cross-origin',
  'x-content-type-options': 'nosniff',
  vary: 'Accept-Encoding',
};

function scriptRoute(name: string): Route {
  const plain = builtFile(new URL(name, FOLDER));
  const zipped = builtFile(new URL(`${name}.gz`, FOLDER));
  return {
    method: 'GET',
    path: `/${name}`,
    permission: 'open',
    handler: async (request) =>
      takesGzip(request)
        ? { status: 200, headers: { ...HEADERS, 'content-encoding': 'gzip' }, body: await zipped() }
        : { status: 200, headers: HEADERS, body: await plain() },
  };
}

export const widgetRoutes = (): readonly Route[] => NAMES.map(scriptRoute);
