/** Echo of the agent: which words are recognised as its own, and which as the user's. */
import t from 'tap';
import { likenessOf } from '../../actors/agent/turns/echo.js';
import { EchoFilter } from '../../gateway/conversations/listening/echo.js';

const SAID = 'Your table is booked for Tuesday at nine. We look forward to your visit.';

t.test('words that are mostly the agent’s, in its order, are echo', async (t) => {
  for (const text of [
    'your table is booked',
    'Table is booked for Tuesday at nine we look forward.',
    'our table is booked for Tuesday a nine',
    'booked for Tuesday',
  ])
    t.equal(likenessOf(text, SAID), 'echo', text);
});

t.test('a word or two of the agent’s are a repetition', async (t) => {
  for (const text of ['Tuesday?', 'at nine', 'booked']) t.equal(likenessOf(text, SAID), 'repetition', text);
});

t.test('agreement, commands and new words are the user’s', async (t) => {
  for (const text of [
    'yes, Tuesday',
    'Yes, Tuesday at nine.',
    'Your table is booked for Tuesday stop',
    'no, booked for Tuesday at nine',
    'booked for Tuesday at nine can you make it ten',
    'I want to cancel the table for Tuesday',
    'nine at Tuesday for booked',
    'okay',
    'Stop.',
    '',
    '...',
  ])
    t.equal(likenessOf(text, SAID), 'own', text);
});

t.test('echo is at least seven words of ten, and never two others in a row', async (t) => {
  t.equal(likenessOf('your cable is hooked for Tuesday a nine we look', SAID), 'echo', '7 of 10');
  t.equal(likenessOf('your cable is hooked for Tuesday a nine we', SAID), 'own', '6 of 9');
  t.equal(likenessOf('your table is booked for Tuesday at nine thirty tomorrow', SAID), 'own', '8 of 10');
  t.equal(likenessOf('at ten', SAID), 'own', 'one of two');
});

t.test('agreement and commands are the user’s although the agent says them', async (t) => {
  const said = 'Your table is booked for Tuesday, no problem.';
  t.equal(likenessOf('no your table is booked for Tuesday', said), 'own', 'it says that later');
  for (const text of ['okay', 'stop', 'please stop'])
    t.equal(likenessOf(text, 'Okay, I please stop there.'), 'own', text);
});

t.test('commands and agreement in the agent’s own words may come back as echo', async (t) => {
  t.equal(likenessOf('no problem we can wait', 'No problem, we can wait.'), 'echo');
  t.equal(likenessOf('yes of course you can', 'Yes, of course you can.'), 'echo');
});

t.test('echo is recognised in languages without spaces', async (t) => {
  t.equal(likenessOf('ご予約は火曜日の九時です', 'ご予約は火曜日の九時ですね。お待ちしております。'), 'echo');
  t.equal(likenessOf('您的桌子订好了', '您的桌子订好了，星期二九点。'), 'echo');
  t.equal(likenessOf('我想取消预订', '您的桌子订好了，星期二九点。'), 'own');
});

/** A filter for an agent that says a word every 300 ms from 0 on. */
function speaking(): EchoFilter {
  const filter = new EchoFilter();
  SAID.split(' ').forEach((word, at) => filter.said(`${word} `, 300 * at));
  return filter;
}

const isEcho = (filter: EchoFilter, from: number, until: number, text: string): boolean => {
  filter.begins(1, from, from < 4200);
  filter.ends(1, until);
  return filter.isEcho(1, text, true, '');
};

t.test('only what the agent says at that time comes back', async (t) => {
  t.ok(isEcho(speaking(), 600, 2000, 'is booked for Tuesday'), 'while it says that');
  t.ok(isEcho(speaking(), 4400, 5000, 'look forward to your visit'), 'just behind it');
  t.notOk(isEcho(speaking(), 600, 1500, 'we look forward to your visit'), 'before it says that');
  t.notOk(isEcho(speaking(), 4100, 5000, 'your table is booked'), 'long after it has said that');
  t.notOk(isEcho(speaking(), 6000, 7000, 'look forward to your visit'), 'the user repeats it afterwards');
});

t.test('words that the agent is about to say count, as the playout reports them late', async (t) => {
  const filter = new EchoFilter();
  filter.begins(1, 0, true);
  t.ok(filter.isEcho(1, 'Your table is', false, SAID));
  t.notOk(filter.isEcho(1, 'look forward to your visit', false, SAID), 'but not what is far ahead');
});

t.test('the same in languages without blanks: the user’s words may be among those far ahead', async (t) => {
  const filter = new EchoFilter();
  filter.begins(1, 0, true);
  const next = '好的，我们会尽快处理您的申请，请您放心。如果还有别的问题，请告诉我要退款的原因。';
  t.ok(filter.isEcho(1, '我们会尽快处理', false, next));
  t.notOk(filter.isEcho(1, '我还有别的问题', false, next));
});

t.test('a repetition is the user’s once, and echo when it is all that comes again', async (t) => {
  const filter = speaking();
  t.notOk(isEcho(filter, 600, 1500, 'booked'));
  t.ok(isEcho(filter, 1500, 2000, 'Tuesday at'));
  const talking = speaking();
  t.notOk(isEcho(talking, 600, 1500, 'booked'));
  t.notOk(isEcho(talking, 1500, 2000, 'what did you say'));
  t.notOk(
    isEcho(talking, 1500, 2000, 'Tuesday'),
    'a user who says something else in between repeats on purpose',
  );
});
