/** Tags that are never read aloud. */
import t from '../../../fixtures/tap.js';
import { speakable } from '../../../../engines/text/speakable.js';

const TAGGED: readonly (readonly [string, string])[] = [
  ['(happy) Hello there', 'Hello there'],
  ['Hello [laugh] there', 'Hello there'],
  ['Oh no (sighs), really?', 'Oh no, really?'],
  ['<|speaker:0|>Hi<|speaker:12|> yo', 'Hi yo'],
  ['(very sad) Bye (in a hurry tone)', 'Bye'],
  ['[whispering][pause] Psst', 'Psst'],
  ['[laughs harder] Well [mischievously] yes (sadly).', 'Well yes (sadly).'],
  ['Call me (really) at (555) [1]', 'Call me (really) at (555)'],
  ['(a happy family) came', '(a happy family) came'],
  ['no tags  at all', 'no tags  at all'],
  ['(happy)', ''],
  ['Well <break time="1.0s" /> then', 'Well then'],
  ['Wait.<break/> Go<break time="500ms" strength="medium"/>.', 'Wait. Go.'],
  ['One<break time="1s"/>two', 'One two'],
  ['Take a <break> and <b>rest</b>', 'Take a and rest'],
  ['Say <phoneme alphabet="ipa" ph="təˈmeɪtoʊ">tomato</phoneme>, please.', 'Say tomato, please.'],
  ['<speak>Hello <prosody rate="slow">you</prosody>.</speak>', 'Hello you.'],
  ['<say-as interpret-as="date">2026-11-28</say-as>', '2026-11-28'],
  ['a <voice', 'a <voice'],
  [`a <phoneme ph="${'x'.repeat(100)}">`, 'a'],
  ['a <breakfast time="8"> menu', 'a <breakfast time="8"> menu'],
];

t.test('known style and speaker tags are stripped, other brackets are text', async (t) => {
  for (const [text, wanted] of TAGGED) t.equal(speakable(text).text, wanted);
});
