/** Telephone numbers, SIP addresses, and numbers that are withheld. */
import t from '../../../fixtures/tap.js';
import {
  callerAddress,
  isSipAddress,
  phoneAddress,
  storedAddress,
  writtenAddress,
} from '../../../../contracts/phone/phone.js';

t.test('numbers are E.164 with their plus, or SIP addresses', (t) => {
  const cases: [string, string | undefined][] = [
    ['+493012345678', '+493012345678'],
    ['14155550123', '+14155550123'],
    ['sip:Shop@Example.com;transport=tls', 'sip:shop@example.com'],
    ['sips:shop@example.com', 'sips:shop@example.com'],
    [`sip:${'a'.repeat(55)}@b.de?x`, `sip:${'a'.repeat(55)}@b.de`],
    ['+1234567', '+1234567'],
    ['+123456789012345', '+123456789012345'],
    ...[
      '',
      'anonymous',
      '+0123456789',
      '+49 30 123456',
      '110',
      '+1234567890123456',
      'client:ann',
      'sip:shop',
      'sip:a@b@c',
      `sip:${'a'.repeat(56)}@b.de`,
      '+123456',
      'x+14155550123',
      'xsip:shop@example.com',
      '１２３４５６７８',
      '+4930123456\n',
    ].map((text): [string, undefined] => [text, undefined]),
  ];
  for (const [text, address] of cases) t.equal(phoneAddress(text), address, text);
  t.end();
});

t.test('a written number has its plus, or is one of the short ones that are allowed', (t) => {
  const short = new Set(['112', '116117']);
  const cases: readonly [string, string | undefined][] = [
    ['+4930123', '+4930123'],
    ['+493012345678901', '+493012345678901'],
    ['+49 (30) 12-34.567', '+49301234567'],
    ['SIP:Desk@pbx.example;transport=tls', 'sip:desk@pbx.example'],
    ['112', '112'],
    ['116 117', '116117'],
    ...['+112', '911', '1121', '+1', 'extension 12', '030 1234567', '4930123456', '+493012', '', '{{desk}}', '+49 30 x'].map(
      (text): [string, undefined] => [text, undefined],
    ),
  ]; // oxfmt-ignore
  for (const [text, address] of cases) t.equal(writtenAddress(text, short), address, text);
  t.equal(storedAddress('49 30 123456', short), '+4930123456', 'as an earlier release stored it');
  t.equal(storedAddress('extension 12', short), undefined);
  t.equal(storedAddress('112', short), '112');
  for (const [address, sip] of [
    ['112', false],
    ['+4930123', false],
    ['sips:a@b', true],
  ] as const)
    // oxfmt-ignore
    t.equal(isSipAddress(address), sip);
  t.end();
});

t.test('a withheld number is nobody’s, also where a provider or SIP has an address for it', (t) => {
  const withheld = ['+266696687', '+7378742833', '+2562533', '+8656696', '+86282452253', '266696687'];
  for (const text of [...withheld, 'sip:Anonymous@anonymous.invalid', 'anonymous', ''])
    t.equal(callerAddress(text), null, text);
  t.equal(callerAddress('14155550123'), '+14155550123');
  t.equal(callerAddress('sip:ann@example.com'), 'sip:ann@example.com');
  t.end();
});
