/**
 * Who may import whom (design.md "The rooms"), as data. The longest room that holds a file is its room.
 * `may` lists rooms or single files, without ending; a room may always import itself.
 * `packages` and `builtins`, where they are given, are the only ones allowed. `*` in a room stands for one
 * folder, each of which is a room of its own. Rooms with `may: ['*']` may import all but `closed` ones.
 */
const PURE = { builtins: [] };

/** Nothing but themselves and each other may import these. */
export const CLOSED = ['test', 'bench'];

export const ROOMS = {
  contracts: { may: [], packages: ['typebox'], builtins: ['node:crypto'] },
  processes: { may: ['contracts'] },
  storage: { may: ['contracts'] },
  codecs: { may: ['contracts', 'processes'] },
  engines: { may: ['contracts', 'processes', 'codecs'] },
  media: { may: ['contracts', 'processes', 'codecs'] },
  actors: { may: ['contracts'], packages: ['xstate'], ...PURE },
  client: { may: [] },
  'gateway/server': { may: ['contracts'] },
  'gateway/dialects/*': {
    may: ['contracts', 'actors', 'codecs/formats', 'codecs/subtitles', 'gateway/server'],
  },
  'gateway/conversations': { may: ['contracts', 'actors', 'gateway/outbound'] },
  'gateway/deliveries': { may: ['contracts', 'actors', 'gateway/outbound'] },
  'gateway/outbound': { may: ['contracts'] },
  'gateway/workers': { may: ['*'] },
  /** The wiring beside main: files directly in gateway/. */
  'gateway/.': { may: ['*'] },
  test: { may: ['*', ...CLOSED] },
  bench: { may: ['*', ...CLOSED] },
};
