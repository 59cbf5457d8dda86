/** The heap of the memory ledger: whoever is largest is first, however members grow, shrink, come and go. */
import t from '../../../../fixtures/tap.js';
import { LargestFirst } from '../../../../../gateway/server/memory/largest-first.js';
import { seeded } from '../../../../fixtures/random.js';

interface Member {
  bytes: number;
  place: number;
}

t.test('the largest of many that change at random', (t) => {
  const random = seeded(5);
  const heap = new LargestFirst<Member>();
  const members: Member[] = [];
  let wrong = 0;
  for (let step = 0; step < 5000; step += 1) {
    const member = members[Math.floor(random() * members.length)];
    if (!member || random() < 0.4) {
      const made = { bytes: Math.floor(random() * 100), place: 0 };
      members.push(made);
      heap.add(made);
    } else if (random() < 0.5) {
      members.splice(members.indexOf(member), 1);
      heap.remove(member);
    } else {
      member.bytes = Math.floor(random() * 100);
      heap.changed(member);
    }
    const most = members.reduce((largest, { bytes }) => Math.max(largest, bytes), -1);
    if ((heap.largest?.bytes ?? -1) !== most || heap.size !== members.length) wrong += 1;
  }
  t.equal(wrong, 0);
  t.end();
});
