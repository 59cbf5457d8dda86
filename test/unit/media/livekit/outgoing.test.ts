/** Messages of the agent to its user in livekit mode: their order and bounds. */
import { type LocalParticipant } from '@livekit/rtc-node';
import t from '../../../fixtures/tap.js';
import { RoomSender } from '../../../../media/livekit/outgoing.js';
import { exactly } from '../../../fixtures/exactly.js';
import { until } from '../../../fixtures/until.js';

/** The library's side of writing: accepts everything, or fails if the test says so. */
class Library {
  readonly identity = 'agent';
  readonly taken: string[] = [];
  readonly options: object[] = [];
  readonly attributes: object[] = [];
  fails = false;
  #streams = 0;

  publishData(payload: Uint8Array, options: object): Promise<void> {
    if (this.fails) return Promise.reject(new Error('not now'));
    this.options.push(options);
    this.taken.push(`data ${Buffer.from(payload).toString()}`);
    return Promise.resolve();
  }

  streamText({ senderIdentity }: { readonly senderIdentity: string }) {
    const name = `${senderIdentity} ${++this.#streams}`;
    this.taken.push(`${name} begins`);
    return Promise.resolve({
      write: (text: string) => Promise.resolve(void this.taken.push(`${name}: ${text}`)),
      close: () => Promise.resolve(void this.taken.push(`${name} ends`)),
    });
  }

  setAttributes(values: object): Promise<void> {
    this.attributes.push(values);
    return Promise.resolve();
  }
}

const outgoing = (library: Library): RoomSender =>
  new RoomSender(library as unknown as LocalParticipant, 'user', () => 'TR_1');

t.test('the agent’s messages wait for the user, keep their order, and survive a failed one', async (t) => {
  const library = new Library();
  const out = outgoing(library);
  out.message('agent-event', Buffer.from('1'));
  out.show({ speaker: 'user', segment: 'u', text: 'Hi', final: true });
  await out.written();
  t.same(library.taken, []);
  out.there(true);
  out.message('agent-event', Buffer.from('2'));
  await out.written();
  t.same(library.taken, ['data 1', 'user 1 begins', 'user 1: Hi', 'user 1 ends', 'data 2']);
  exactly(t, library.options[0], { reliable: true, topic: 'agent-event', destination_identities: ['user'] });
  library.fails = true;
  out.message('agent-event', Buffer.from('3'));
  await out.written();
  library.fails = false;
  out.message('agent-event', Buffer.from('4'));
  await out.written();
  t.equal(library.taken.at(-1), 'data 4');
});

t.test('an unfinished transcript of the agent begins again for a user who returns, once', async (t) => {
  const library = new Library();
  const out = outgoing(library);
  out.there(true);
  out.show({ speaker: 'agent', segment: 'a', text: 'One ', final: false });
  await out.written();
  out.there(false);
  out.show({ speaker: 'agent', segment: 'a', text: 'two ', final: false });
  out.there(true);
  out.show({ speaker: 'agent', segment: 'a', text: 'three.', final: true });
  await out.written();
  const [first, again] = [['agent 1 begins', 'agent 1: One ', 'agent 1 ends'], 'agent 2'];
  t.same(library.taken, [
    ...first,
    `${again} begins`,
    `${again}: One two `,
    `${again}: three.`,
    `${again} ends`,
  ]);
  out.there(false);
  out.show({ speaker: 'agent', segment: 'b', text: 'Whole.', final: true });
  out.there(true);
  await out.written();
  t.same(library.taken.slice(-3), ['agent 3 begins', 'agent 3: Whole.', 'agent 3 ends']);
});

t.test('waiting messages are bounded; of attributes the latest counts', async (t) => {
  const library = new Library();
  const out = outgoing(library);
  for (let each = 0; each < 1000; each += 1) out.message('agent-event', Buffer.alloc(1000));
  out.there(true);
  await out.written();
  t.ok(library.taken.length > 100 && library.taken.length < 300, `${library.taken.length} have waited`);
  for (const state of ['initializing', 'listening', 'thinking', 'speaking'])
    out.attributes({ 'lk.agent.state': state, [state]: '1' });
  await until('the last is known', () => library.attributes.length === 2);
  exactly(t, library.attributes[1], { 'lk.agent.state': 'speaking', initializing: '1', thinking: '1' });
});
