/** The few fixed sentences that an agent says without its model. */
import type { Language } from '../../../contracts/speech/languages.js';

const EXCUSES: Readonly<Record<Language, string>> = {
  en: 'Sorry, I could not answer that. Please try again.',
  ja: 'すみません、お答えできませんでした。もう一度お願いします。',
  zh: '抱歉，我没能回答。请再试一次。',
  ko: '죄송합니다, 대답하지 못했습니다. 다시 말씀해 주세요.',
  es: 'Lo siento, no he podido responder. Inténtelo de nuevo, por favor.',
  fr: "Désolé, je n'ai pas pu répondre. Veuillez réessayer.",
  de: 'Entschuldigung, das konnte ich nicht beantworten. Bitte versuchen Sie es noch einmal.',
};

/** Said where the recogniser has failed. */
const NOT_UNDERSTOOD: Readonly<Record<Language, string>> = {
  en: 'Sorry, I did not get that. Could you say it again?',
  ja: 'すみません、聞き取れませんでした。もう一度お願いします。',
  zh: '抱歉，我没有听清。请再说一遍。',
  ko: '죄송합니다, 잘 듣지 못했습니다. 다시 말씀해 주세요.',
  es: 'Perdone, no le he entendido. ¿Puede repetirlo?',
  fr: "Excusez-moi, je n'ai pas compris. Pouvez-vous répéter ?",
  de: 'Entschuldigung, das habe ich nicht verstanden. Können Sie es wiederholen?',
};

/** Said at the beginning of a call where the agent's own opening cannot be made: nobody has asked anything yet. */
const GREETINGS: Readonly<Record<Language, string>> = {
  en: 'Hello! How can I help you?',
  ja: 'こんにちは。ご用件をお聞かせください。',
  zh: '您好！请问有什么可以帮您？',
  ko: '안녕하세요! 무엇을 도와드릴까요?',
  es: '¡Hola! ¿En qué puedo ayudarle?',
  fr: 'Bonjour ! Comment puis-je vous aider ?',
  de: 'Guten Tag! Wie kann ich Ihnen helfen?',
};

/** Said before the call ends because too many answers have failed. */
const APOLOGIES: Readonly<Record<Language, string>> = {
  en: 'I am sorry, something is wrong on our side. Please call again later. Goodbye.',
  ja: '申し訳ございません。こちらで問題が発生しています。後ほどおかけ直しください。失礼いたします。',
  zh: '非常抱歉，我们这边出现了问题。请稍后再打来。再见。',
  ko: '죄송합니다. 저희 쪽에 문제가 생겼습니다. 나중에 다시 전화해 주세요. 안녕히 계세요.',
  es: 'Lo siento, tenemos un problema técnico. Vuelva a llamar más tarde, por favor. Adiós.',
  fr: 'Je suis désolé, nous avons un problème technique. Veuillez rappeler plus tard. Au revoir.',
  de: 'Es tut mir leid, bei uns ist etwas gestört. Bitte rufen Sie später noch einmal an. Auf Wiederhören.',
};

/** Said `warnMs` before the longest duration ends (actors/agent/times.ts). */
const WARNINGS: Readonly<Record<Language, string>> = {
  en: 'We have about half a minute left on this call.',
  ja: 'この通話の残り時間は約三十秒です。',
  zh: '本次通话还剩大约半分钟。',
  ko: '이 통화는 약 삼십 초 남았습니다.',
  es: 'Nos queda aproximadamente medio minuto en esta llamada.',
  fr: 'Il nous reste environ une demi-minute pour cet appel.',
  de: 'Wir haben noch etwa eine halbe Minute in diesem Gespräch.',
};

/** Said before a call ends in which nobody has said anything for long. */
const GOODBYES: Readonly<Record<Language, string>> = {
  en: 'I cannot hear you any more, so I will end this call now. Goodbye.',
  ja: 'お声が聞こえないようですので、お電話を切らせていただきます。失礼いたします。',
  zh: '我这边听不到您的声音，先结束通话了。再见。',
  ko: '말씀이 들리지 않아 통화를 종료하겠습니다. 안녕히 계세요.',
  es: 'Ya no le oigo, así que voy a terminar la llamada. Adiós.',
  fr: 'Je ne vous entends plus, je mets donc fin à cet appel. Au revoir.',
  de: 'Ich höre Sie nicht mehr und beende deshalb das Gespräch. Auf Wiederhören.',
};

/** Said while an answer takes long. */
const FILLERS: Readonly<Record<Language, string>> = {
  en: 'One moment, please.',
  ja: '少々お待ちください。',
  zh: '请稍等一下。',
  ko: '잠시만 기다려 주세요.',
  es: 'Un momento, por favor.',
  fr: 'Un instant, s’il vous plaît.',
  de: 'Einen Moment, bitte.',
};

/** Said when the call continues after its node was lost. */
const RECOVERIES: Readonly<Record<Language, string>> = {
  en: 'Sorry, I lost you for a moment.',
  ja: 'すみません、少しの間つながらなくなっていました。',
  zh: '抱歉，刚才断线了一会儿。',
  ko: '죄송합니다, 잠시 연결이 끊겼습니다.',
  es: 'Perdone, he perdido la conexión un momento.',
  fr: 'Excusez-moi, je vous ai perdu un instant.',
  de: 'Entschuldigung, ich habe Sie einen Moment lang verloren.',
};

/** Said to a colleague to whom a call is handed over. */
const INTRODUCTIONS: Readonly<Record<Language, string>> = {
  en: 'Hello, I have a caller on the line for you.',
  ja: 'お電話をおつなぎします。',
  zh: '您好，有一位来电者要转接给您。',
  ko: '안녕하세요, 연결해 드릴 전화가 있습니다.',
  es: 'Hola, tengo una llamada para usted.',
  fr: 'Bonjour, j’ai un appel pour vous.',
  de: 'Hallo, ich habe einen Anruf für Sie.',
};

/** Said after the introduction; gateway/agents/phone/consent.ts understands the answers. */
const QUESTIONS: Readonly<Record<Language, string>> = {
  en: 'Do you take the call? Say yes or no, or press one or two.',
  ja: 'お受けになりますか。はい、または、いいえ、とお答えいただくか、一か二を押してください。',
  zh: '您要接听吗？请说是或不，或者按一或二。',
  ko: '전화를 받으시겠습니까? 네 또는 아니요라고 말씀하시거나, 일번 또는 이번을 눌러 주세요.',
  es: '¿Acepta la llamada? Diga sí o no, o pulse uno o dos.',
  fr: 'Prenez-vous l’appel ? Dites oui ou non, ou appuyez sur un ou deux.',
  de: 'Nehmen Sie den Anruf an? Sagen Sie Ja oder Nein, oder drücken Sie eins oder zwei.',
};

export const introductionIn = (language: Language): string => INTRODUCTIONS[language];
export const questionIn = (language: Language): string => QUESTIONS[language];
export const excuseIn = (language: Language): string => EXCUSES[language];
export const notUnderstoodIn = (language: Language): string => NOT_UNDERSTOOD[language];
export const greetingIn = (language: Language): string => GREETINGS[language];
export const apologyIn = (language: Language): string => APOLOGIES[language];
export const goodbyeIn = (language: Language): string => GOODBYES[language];
export const warningIn = (language: Language): string => WARNINGS[language];
export const recoveryIn = (language: Language): string => RECOVERIES[language];
export const fillerIn = (language: Language): string => FILLERS[language];
