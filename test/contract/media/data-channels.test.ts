/** The data channels of one client (media/embedded/peer.ts): however it names and opens them, they hold no memory of ours. */
import type { DataChannel } from 'node-datachannel';
import t from '../../fixtures/tap.js';
import { peerPair } from '../../fixtures/media/peer-pair.js';
import { until } from '../../fixtures/until.js';

const MOST = 32;

t.test('a client has a limited number of channels at once; closed ones make room', async (t) => {
  const heard: string[] = [];
  const { client, held, negotiate } = await peerPair(t, { message: (label) => heard.push(label) });
  const openSome = (many: number, label: string): DataChannel[] => {
    const some = Array.from({ length: many }, () => client.createDataChannel(label));
    for (const channel of some) channel.onClosed(() => undefined);
    held.push(...some);
    return some;
  };
  const [first] = openSome(1, '_reliable');
  negotiate();
  await until('the first is open', () => first?.isOpen());

  const others = openSome(MOST - 1, 'same name');
  await until('all that may be are open', () => others.every((channel) => channel.isOpen()));
  for (const channel of others) channel.sendMessageBinary(new Uint8Array(1));
  await until('all are heard', () => heard.length === MOST - 1);
  let isClosed = false;
  openSome(1, 'one more')[0]?.onClosed(() => (isClosed = true));
  await until('one more is closed', () => isClosed);
  for (const channel of others) channel.close();
  await until('another one is heard', () => {
    const [again] = openSome(1, 'again');
    // It may be refused once more, and closed meanwhile: what a callback of the library throws ends the process.
    const send = (): void => {
      try {
        again?.sendMessageBinary(new Uint8Array(1));
      } catch {
        // Another one is opened.
      }
    };
    again?.onOpen(send);
    return heard.includes('again');
  });
  t.notOk(heard.includes('one more'));
  first?.sendMessageBinary(new Uint8Array(1));
  await until('the first goes on', () => heard.includes('_reliable'));
});
