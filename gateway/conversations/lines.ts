/** The few sentences that an agent says of its own. */
import type { Language } from '../../contracts/languages.js';

const EXCUSES: Readonly<Record<Language, string>> = {
  en: 'Sorry, I could not answer that. Please try again.',
  ja: 'すみません、お答えできませんでした。もう一度お願いします。',
  zh: '抱歉，我没能回答。请再试一次。',
  ko: '죄송합니다, 대답하지 못했습니다. 다시 말씀해 주세요.',
  es: 'Lo siento, no he podido responder. Inténtelo de nuevo, por favor.',
  fr: "Désolé, je n'ai pas pu répondre. Veuillez réessayer.",
  de: 'Entschuldigung, das konnte ich nicht beantworten. Bitte versuchen Sie es noch einmal.',
};

export const excuseIn = (language: Language): string => EXCUSES[language];
