/** Server-sent events as text. */
import t from '../../../fixtures/tap.js';
import { formatEvent } from '../../../../gateway/server/sse.js';

void t.test('events', async (t) => {
  t.equal(formatEvent({ data: { a: 1 } }), 'data: {"a":1}\n\n');
  t.equal(
    formatEvent({ event: 'x', id: '1', data: 'a\nb\r\nc' }),
    'event: x\nid: 1\ndata: a\ndata: b\ndata: c\n\n',
  );
  t.equal(formatEvent({ event: 'x\ndata: y', data: '[DONE]' }), 'event: x data: y\ndata: [DONE]\n\n');
});
