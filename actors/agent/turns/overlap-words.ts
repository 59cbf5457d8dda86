/**
 * Short phrases that people say to somebody who speaks, by language: agreement and commands. Every call knows all of them,
 * whatever its language, as people say "okay" and "stop" in most.
 */
import type { Language } from '../../../contracts/speech/languages.js';

/** Phrases, separated by commas. */
type Phrases = Readonly<Record<Language, string>>;

const listed = (phrases: Phrases): readonly string[] =>
  Object.values(phrases).flatMap((text) => text.split(', '));

/**
 * Words of a listener. Spaces and full stops do not count: a recogniser may spell a hum out ("M. H. M."), or hear
 * only the hesitation before it.
 */
export const AGREEMENT = listed({
  en:
    'yeah, yes, yep, yup, ok, okay, right, alright, all right, sure, fine, exactly, mhm, mm, hm, uh huh, um hum, ' +
    'huh, aha, ah, oh, uh, um, i see, got it, i understand, understood, interesting, really, go on, makes sense, that makes sense, ' +
    'it makes sense, cool, great, nice, wow, true, indeed, perfect, good, absolutely, definitely, of course, thats right, ' +
    'that is right, youre right, thats true, thats good, thats great, thats fine, thats all right, thats it, very good',
  es: 'sí, si, claro, vale, ya, bien, muy bien, entiendo, entendido, de acuerdo, exacto, perfecto, correcto, por supuesto, ajá',
  fr:
    'oui, ouais, daccord, très bien, voilà, je vois, je comprends, compris, entendu, exactement, parfait, bien sûr, cest ça, ' +
    'tout à fait, ah bon',
  de:
    'ja, genau, klar, alles klar, gut, sehr gut, stimmt, richtig, ach, ach so, so, verstehe, ich verstehe, verstanden, natürlich, ' +
    'in ordnung, prima',
  ja: 'うん, はい, ええ, へえ, なるほど, そう, そうそう, そうです, そうですね, そうですか, 確かに, わかりました, 了解です',
  zh: '嗯, 嗯嗯, 哦, 对, 对的, 好, 好的, 好吧, 是, 是的, 没错, 明白, 明白了, 知道了, 可以',
  ko: '네, 예, 응, 음, 그래, 그래요, 그렇군요, 그렇죠, 맞아요, 맞습니다, 알겠어요, 알겠습니다, 좋아요',
});

/** Phrases that tell the agent to stop; each is a command by itself. */
export const COMMANDS = listed({
  en:
    'stop, wait, no, nope, hold on, hang on, halt, pause, enough, quiet, be quiet, shut up, excuse me, never mind, one moment, ' +
    'one second, just a moment, just a second',
  es: 'para, pare, alto, basta, espera, espere, detente, un momento, un segundo, un minuto, cállate, silencio, perdone, disculpe',
  fr:
    'arrête, arrêtez, attends, attendez, non, un instant, un moment, une seconde, une minute, taisez vous, tais toi, ça suffit, ' +
    'silence, excusez moi',
  de:
    'stopp, warte, warten sie, nein, moment, moment mal, einen moment, augenblick, einen augenblick, aufhören, hör auf, ' +
    'hören sie auf, sei still, sei ruhig, ruhe, genug',
  ja: '待って, 待った, やめて, 止めて, とめて, ストップ, いいえ, いや, 違う, 違います, ちがう, 黙って, 静かに, 静かにして, すみません',
  zh: '停, 停下, 停一下, 停止, 等等, 等一下, 等下, 等一等, 等会, 稍等, 稍等一下, 不, 不是, 不对, 不要, 不用, 别说了, 别说话, 闭嘴, 打住, 安静',
  ko:
    '잠깐, 잠깐만, 잠깐만요, 잠시만, 잠시만요, 멈춰, 멈춰요, 멈추세요, 그만, 그만해, 그만해요, 그만하세요, 기다려, 기다려요, 기다리세요, ' +
    '아니, 아니요, 아뇨, 스톱, 조용히',
});

/** Words that people put around a command. */
export const SOFTENERS = listed({
  en: 'please, now, right now, it, that, there, a, moment, second, sec, minute, for, just, oh, ok, okay, hey, sorry, talking, um, uh, well',
  es: 'por favor, ahora, ya, ahí, oye, perdón, eh',
  fr: 'sil vous plaît, sil te plaît, maintenant, ça, pardon, euh',
  de: 'bitte, jetzt, mal, kurz, doch, entschuldigung, äh, damit',
  ja: 'ちょっと, ください, 下さい, もう, あの, それ',
  zh: '请, 先, 了, 吧, 一下, 喂',
  ko: '좀, 제발, 주세요, 저기요, 해',
});
