/**
 * Who may import whom (design.md "The rooms"), as data. The longest room that holds a file is its room; `*` in a room
 * stands for one folder, each of which is a room of its own. `may` lists rooms or single files, without ending; a room
 * may always import itself, and one with `*` everything but what is CLOSED. `packages` and `builtins`, where given,
 * are the only ones allowed. `computed` lists the files that may import what has no literal name.
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
  /** `listen` loads uWebSockets' binding, whose file is named after platform and Node version. */
  'gateway/server': { may: ['contracts'], computed: ['gateway/server/listen'] },
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
