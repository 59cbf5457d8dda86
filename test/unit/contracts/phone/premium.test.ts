/** Numbers whose calls cost extra (contracts/phone/premium.ts), as national numbering plans have them. */
import t from '../../../fixtures/tap.js';
import { isPremium } from '../../../../contracts/phone/premium.js';

t.test('premium numbers are known by their country and range', async (t) => {
  const numbers = [
    ...['+19005550100', '+449098790000', '+448717654321', '+499001234567', '+491371234567', '+33892123456'],
    ...[
      '+81990123456',
      '+34803123456',
      '+39899123456',
      '+41900123456',
      '+43930123456',
      '+8260012345',
      '+979123456789',
    ],
  ];
  for (const number of numbers) t.ok(isPremium(number), number);
});

t.test('neighbours of these ranges, free numbers and SIP are none', async (t) => {
  const numbers = [
    ...['+18005550100', '+12025550100', '+442079460000', '+448001234567', '+498001234567', '+499061234567'],
    ...['+33812123456', '+33189123456', '+818012345678', '+34913123456', '+390612345678', '+4369912345678'],
    ...['+3292345678', 'sip:900@example.com', '112'],
  ];
  for (const number of numbers) t.notOk(isPremium(number), number);
});
