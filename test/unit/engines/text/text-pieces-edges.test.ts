/** Ends of pieces at the edges of each rule: where a clause is long enough, and where a cut splits no character. */
import t from '../../../fixtures/tap.js';
import { pieceEnd, type PieceRule } from '../../../../engines/text/text-pieces.js';

/** Texts by rule, each with a bar at the end of its first piece; without one where no piece is complete. */
const ROWS: readonly (readonly [rule: PieceRule, texts: readonly string[]])[] = [
  [{ until: 'clause', limit: 300, ended: true }, [
    'Thank you all,| and welcome to the show.',
    'Hello yours,| and more',
    'aaaa bbbb cccc dddd eeee ffff gggg hhhh,| and then it goes on',
    'aaaa bbbb cccc dddd eeee| and ffff gggg hhh, then it goes on',
    'aaaa bbbb cccc dddd eeee| and ffff gggg hhhhi, and then it goes on',
    'aaaa bbbb cccc dddd eeee ffff gggg hhhhi,| and then it goes on',
    'aaaa bbbb cccc dddd eeee ffff gggg hhhhiiii jjjjjjjjj,| kk',
    'aaaa bbbb cccc dddd eeee ffff gggg| hhhhiiii jjjjjjjjjj, kk',
    'aaaa bbbb cccc dddd eeee ffff gggg| hhhhiiii and jjjjjjjjj kkkk',
    'aaaa bbbb cccc dddd eeee ffff gggg hhhhi| and jjjjjjjjj kkkk llll',
    'aaaa bbbb cccc dddd eeee ffff gggg| hhhhij and jjjjjjjjj kkkk llll',
    'aaaa bbbb c and dddd eeee ffff gggg hhhh| jjjjjjjjjjj kkkk llll',
    'aaaa bbbb cc| and dddd eeee ffff gggg hhhh jjjjjjjjjjj kkkk llll',
    'aaaa bb cccc| the of the of the of the of the of the of the of old',
    'aaaa bb ccc the of the of the of the of| the of the of the of old',
    'aaaa bbbb cccc dddd eeee| an of my of mr mrs ms. dr of old of the mn',
    'aaaa bbbb cccc dddd eeee| a of mr. mrs. ms dr. st. st of old of the mn',
    'aaaa bbbb cccc dddd eeee ffff gggg  the old,| house of us',
    '? yes.| Yes it is.',
    '… ! … ! yes.| Then',
    '今日は。|とても',
    '今日は、|とても',
    '今日はとても天気がいいので公園、|に行き',
    '今日はとても天気がいいので公園に行きまし、|ょうねえはいはい',
    '今日はとても天気がいいので公園に行きまし。|ょうねえはいはい',
    '今日はとても天気がいいので公園に|行きましょう、ねえはいはい',
    'Hello 今日、|は',
    'aaaaaaa今、|は aaaa bbbb',
    'aaaa bbbb cccc dddd eeee ffff gggg hh of| and jj kkkk llll mm',
    'aaaa bbbb cccc and dddd,| eeee ffff gggg hhhh',
    'aaaa bbbb cccc dddd and eeee ffff hhhhh,| iiii jjjj',
    'aaaa bbbb cccc dddd eeee a,| mrs',
    'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa|aaaaaaaaaaaaaaa',
    'Hello you, x|',
    'Hello your, and more|',
    '今日、とても|',
    'aaaaaaaa今、は aaaa bbbb|',
    'short|',
    'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa|',
  ]],
  [{ until: 'clause', limit: 300, ended: false }, [
    'Thank you all,| and welcome to the show.',
    'Hello yours,| and more',
    'aaaa bbbb cccc dddd eeee ffff gggg hhhh,| and then it goes on',
    'aaaa bbbb cccc dddd eeee| and ffff gggg hhh, then it goes on',
    'aaaa bbbb cccc dddd eeee| and ffff gggg hhhhi, and then it goes on',
    'aaaa bbbb cccc dddd eeee ffff gggg hhhhi,| and then it goes on',
    'aaaa bbbb cccc dddd eeee ffff gggg hhhhiiii jjjjjjjjj,| kk',
    'aaaa bbbb cccc dddd eeee ffff gggg| hhhhiiii jjjjjjjjjj, kk',
    'aaaa bbbb cccc dddd eeee ffff gggg| hhhhiiii and jjjjjjjjj kkkk',
    'aaaa bbbb cccc dddd eeee ffff gggg hhhhi| and jjjjjjjjj kkkk llll',
    'aaaa bbbb cccc dddd eeee ffff gggg| hhhhij and jjjjjjjjj kkkk llll',
    'aaaa bbbb c and dddd eeee ffff gggg hhhh| jjjjjjjjjjj kkkk llll',
    'aaaa bbbb cc| and dddd eeee ffff gggg hhhh jjjjjjjjjjj kkkk llll',
    'aaaa bb cccc| the of the of the of the of the of the of the of old',
    'aaaa bb ccc the of the of the of the of| the of the of the of old',
    'aaaa bbbb cccc dddd eeee| an of my of mr mrs ms. dr of old of the mn',
    'aaaa bbbb cccc dddd eeee| a of mr. mrs. ms dr. st. st of old of the mn',
    'aaaa bbbb cccc dddd eeee ffff gggg  the old,| house of us',
    '? yes.| Yes it is.',
    '… ! … ! yes.| Then',
    '今日は。|とても',
    '今日は、|とても',
    '今日はとても天気がいいので公園、|に行き',
    '今日はとても天気がいいので公園に行きまし、|ょうねえはいはい',
    '今日はとても天気がいいので公園に行きまし。|ょうねえはいはい',
    '今日はとても天気がいいので公園に|行きましょう、ねえはいはい',
    'Hello 今日、|は',
    'aaaaaaa今、|は aaaa bbbb',
    'aaaa bbbb cccc dddd eeee ffff gggg hh of| and jj kkkk llll mm',
    'aaaa bbbb cccc and dddd,| eeee ffff gggg hhhh',
    'aaaa bbbb cccc dddd and eeee ffff hhhhh,| iiii jjjj',
    'aaaa bbbb cccc dddd eeee a,| mrs',
    'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa|aaaaaaaaaaaaaaa',
    'Hello you, x',
    'Hello your, and more',
    '今日、とても',
    'aaaaaaaa今、は aaaa bbbb',
    'short',
    'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',
  ]],
  [{ until: 'sentence', limit: 20, ended: true }, [
    'aaaa bbbb cccc dddd| eeee ffff',
    'aaaa bbbb,| ccc dddd eeee ffff',
    'aaaa bbb, cccc dddd| eeee ffff',
    'aaaa bbbb cccc dddde| eeee',
    'aaaa bbbb cccc| ddddef eeee',
  ]],
  [{ until: 'sentence', limit: 10, ended: true }, [
    'aaaaaaaaaa|aa bbb',
    'aaaaaaaaaa|',
    '? ! aaaa.| Bbbb cccc',
    '? ? ? ? ?| ? ? aaaa',
    '?????????| aaaa',
    '? a. b c d| e f',
    ' aaaaaaaaa|aa',
  ]],
  [{ until: 'sentence', limit: 10, ended: false }, [
    'aaaaaaaaaa',
    'aaaaaaaaaa|b',
    'Aa bb.| C',
    'Aa bb. ',
    'Aa bb',
  ]],
  [{ until: 'chunk', limit: 20, ended: true }, [
    'Aa bb. Cc dd.| Ee, ff gg hh',
    'Aa bb, cc dd ee,| ff gg hh',
    'Aa bb cc dd ee ff gg| hh',
    'Aa bb.| Cc dd, ee ff gg hh',
    'Aa bb. Cc dd, ee ff.|',
    'aaa\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}|\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}',
    'aaaa\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}|\u{301}b',
    'aaaa|a\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}b',
    'aa\u{200d}\u{200d}\u{200d}\u{200d}\u{200d}\u{200d}\u{200d}\u{200d}\u{200d}\u{200d}\u{200d}\u{200d}\u{200d}\u{200d}\u{200d}\u{200d}\u{200d}\u{200d}|\u{200d}\u{200d}\u{200d}\u{200d}\u{200d}\u{200d}\u{200d}\u{200d}\u{200d}\u{200d}\u{200d}\u{200d}',
    'a\u{1f3fd}\u{1f3fd}\u{1f3fd}\u{1f3fd}\u{1f3fd}\u{1f3fd}\u{1f3fd}\u{1f3fd}\u{1f3fd}|\u{1f3fd}\u{1f3fd}\u{1f3fd}\u{1f3fd}\u{1f3fd}\u{1f3fd}',
    'aaaa\u{200d}😀\u{200d}😀\u{200d}😀\u{200d}😀\u{200d}😀\u{200d}|😀',
  ]],
  [{ until: 'chunk', limit: 20, ended: false }, [
    'Aa bb. Cc dd, ee ff.',
    'Aa bb.| Cc dd, ee ffg.',
  ]],
  [{ until: 'chunk', limit: 8, ended: true }, [
    'aaaaaaaa|😀bbbbbb',
    'aaaaaaaa|e\u{301}\u{302}\u{303}bbb',
    'aaaaaaaa|👍\u{1f3fd}bbbb',
    'aaaaaaaa|👩\u{200d}👩bbb',
  ]],
  [{ until: 'chunk', limit: 9, ended: true }, [
    'aaaaaaaa|😀bbbbbb',
    'aaaaaaaa|e\u{301}\u{302}\u{303}bbb',
    'aaaaaaaa|👍\u{1f3fd}bbbb',
    'aaaaaaaa|👩\u{200d}👩bbb',
  ]],
  [{ until: 'chunk', limit: 10, ended: true }, [
    'aaaaaaaa😀|bbbbbb',
    'aaaaaaaa|e\u{301}\u{302}\u{303}bbb',
    'aaaaaaaa|👍\u{1f3fd}bbbb',
    'aaaaaaaa|👩\u{200d}👩bbb',
  ]],
  [{ until: 'chunk', limit: 11, ended: true }, [
    'aaaaaaaa😀b|bbbbb',
    'aaaaaaaa|e\u{301}\u{302}\u{303}bbb',
    'aaaaaaaa|👍\u{1f3fd}bbbb',
    'aaaaaaaa|👩\u{200d}👩bbb',
  ]],
  [{ until: 'chunk', limit: 12, ended: true }, [
    'aaaaaaaa😀bb|bbbb',
    'aaaaaaaae\u{301}\u{302}\u{303}|bbb',
    'aaaaaaaa👍\u{1f3fd}|bbbb',
    'aaaaaaaa|👩\u{200d}👩bbb',
  ]],
  [{ until: 'chunk', limit: 13, ended: true }, [
    'aaaaaaaa😀bbb|bbb',
    'aaaaaaaae\u{301}\u{302}\u{303}b|bb',
    'aaaaaaaa👍\u{1f3fd}b|bbb',
    'aaaaaaaa👩\u{200d}👩|bbb',
  ]],
  [{ until: 'chunk', limit: 5, ended: true }, [
    'a| bbbbbb',
    'aa| bbbbbb',
  ]],
  [{ until: 'chunk', limit: 2, ended: true }, [
    '\u{301}\u{301}|\u{301}',
    '😀|😀',
  ]],
  [{ until: 'chunk', limit: 3, ended: true }, [
    'a\u{301}\u{301}|\u{301}\u{301}',
    '😀|😀',
  ]],
  [{ until: 'clause', limit: 10, ended: true }, [
    'aaaa bbbb| cccc dddd',
    'aaaa bbb,| cc',
  ]],
  [{ until: 'clause', limit: 10, ended: false }, [
    'aaaa bbbbb',
    'aaaa bbbbb| ',
  ]],
  [{ until: 'clause', limit: 30, ended: true }, [
    'aaaa bbbb cccc dddd eeee ffff| gggg',
  ]],
]; // oxfmt-ignore

/** What stands before has no effect. */
const BEFORE = ['', `${'y'.repeat(49)} `];

for (const [rule, texts] of ROWS)
  t.test(`${rule.until}, ${rule.limit}, ${rule.ended ? 'whole' : 'arriving'}`, async (t) => {
    for (const marked of texts)
      for (const before of BEFORE) {
        const text = marked.replace('|', '');
        const end = pieceEnd(before + text, before.length, rule);
        const cut =
          end === undefined
            ? text
            : `${text.slice(0, end - before.length)}|${text.slice(end - before.length)}`;
        t.equal(cut, marked, JSON.stringify(marked));
      }
  });
