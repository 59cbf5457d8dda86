/** Short things that people say to somebody who speaks, in the languages of agents: agreement, and commands. */

/**
 * What somebody says who listens. Blanks and points do not count: a recogniser may spell a hum out ("M. H. M."), or hear
 * only the hesitation before it.
 */
export const AGREEMENT: readonly string[] = [
  ...['yeah', 'yes', 'yep', 'yup', 'ok', 'okay', 'right', 'alright', 'all right', 'sure', 'fine', 'exactly'],
  ...['mhm', 'mm', 'hm', 'hmm', 'mmhm', 'mmhmm', 'uh huh', 'um hum', 'huh', 'aha', 'ah', 'oh', 'uh', 'um'],
  ...['i see', 'got it', 'i understand', 'understood', 'interesting', 'really', 'go on', 'makes sense'],
  ...['that makes sense', 'it makes sense', 'cool', 'great', 'nice', 'wow', 'true', 'indeed', 'perfect'],
  ...['good', 'absolutely', 'definitely', 'of course', 'thats right', 'that is right', 'youre right'],
  ...['thats true', 'thats good', 'thats great', 'thats fine', 'thats all right', 'thats it', 'very good'],
  ...['sí', 'si', 'claro', 'vale', 'ya', 'bien', 'muy bien', 'entiendo', 'oui', 'ouais', 'daccord'],
  ...['très bien', 'voilà', 'je vois', 'ja', 'genau', 'klar', 'gut', 'sehr gut', 'stimmt', 'ach', 'ach so'],
  ...[
    'so',
    'verstehe',
    'うん',
    'はい',
    'ええ',
    'なるほど',
    'そう',
    'そうですね',
    '嗯',
    '对',
    '好',
    '好的',
    '是',
  ],
  ...['네', '예', '응', '그래요', '맞아요'],
];

/** Phrases that tell the agent to stop; each is one by itself. */
export const COMMANDS: readonly string[] = [
  ...['stop', 'wait', 'no', 'nope', 'hold on', 'hang on', 'halt', 'pause', 'enough', 'quiet', 'be quiet'],
  ...['shut up', 'excuse me', 'never mind', 'one moment', 'one second', 'just a moment', 'just a second'],
  ...['para', 'pare', 'alto', 'basta', 'espera', 'espere', 'detente', 'un momento', 'un segundo'],
  ...['cállate', 'silencio', 'arrête', 'arrêtez', 'attends', 'attendez', 'non', 'un instant', 'un moment'],
  ...['une seconde', 'une minute', 'taisez vous', 'tais toi', 'stopp', 'warte', 'warten sie', 'nein'],
  ...['moment', 'moment mal', 'einen moment', 'augenblick', 'einen augenblick', 'aufhören', 'hör auf'],
  ...['hören sie auf', 'sei still', 'ruhe', '待って', '待った', 'やめて', '止めて', 'とめて', 'ストップ'],
  ...['いいえ', 'いや', '違う', '違います', 'ちがう', '停', '停下', '停一下', '停止', '等等', '等一下'],
  ...[
    '等一等',
    '等会',
    '不',
    '不是',
    '不对',
    '不要',
    '不用',
    '别说了',
    '잠깐',
    '잠깐만',
    '잠깐만요',
    '잠시만',
  ],
  ...['잠시만요', '멈춰', '멈춰요', '멈추세요', '그만', '그만해', '그만하세요', '기다려', '기다려요'],
  ...['기다리세요', '아니', '아니요', '아뇨', '스톱'],
];

/** What people put around a command. */
export const SOFTENERS: readonly string[] = [
  ...['please', 'now', 'right now', 'it', 'that', 'there', 'a', 'moment', 'second', 'sec', 'minute', 'for'],
  ...['just', 'oh', 'ok', 'okay', 'hey', 'sorry', 'talking', 'um', 'uh', 'well', 'por favor', 'ahora', 'ya'],
  ...['ahí', 'oye', 'perdón', 'eh', 'sil vous plaît', 'sil te plaît', 'maintenant', 'ça', 'pardon', 'euh'],
  ...['bitte', 'jetzt', 'mal', 'kurz', 'doch', 'entschuldigung', 'äh', 'damit', 'ちょっと', 'ください'],
  ...[
    '下さい',
    'もう',
    'あの',
    'それ',
    '请',
    '先',
    '了',
    '吧',
    '一下',
    '喂',
    '좀',
    '제발',
    '주세요',
    '저기요',
  ],
];
