/** A short sentence in each language, with which a voice is heard before it is chosen. */
const SAMPLES: Readonly<Record<string, string>> = {
  en: 'Good morning, and thank you for calling. What can I do for you?',
  de: 'Guten Morgen, und vielen Dank für Ihren Anruf. Was kann ich für Sie tun?',
  fr: 'Bonjour, et merci de votre appel. Que puis-je faire pour vous ?',
  es: 'Buenos días, y gracias por llamar. ¿En qué puedo ayudarle?',
  it: 'Buongiorno, e grazie della chiamata. Come posso aiutarla?',
  pt: 'Bom dia, e obrigado por ligar. Em que posso ajudar?',
  nl: 'Goedemorgen, en bedankt voor het bellen. Wat kan ik voor u doen?',
  pl: 'Dzień dobry, dziękuję za telefon. W czym mogę pomóc?',
  ru: 'Доброе утро, спасибо за звонок. Чем могу помочь?',
  uk: 'Доброго ранку, дякую за дзвінок. Чим можу допомогти?',
  cs: 'Dobré ráno, děkuji za zavolání. Co pro vás mohu udělat?',
  sv: 'God morgon, och tack för att du ringer. Vad kan jag hjälpa till med?',
  da: 'Godmorgen, og tak fordi du ringer. Hvad kan jeg hjælpe med?',
  nb: 'God morgen, og takk for at du ringer. Hva kan jeg hjelpe med?',
  fi: 'Hyvää huomenta, ja kiitos soitosta. Miten voin auttaa?',
  tr: 'Günaydın, aradığınız için teşekkürler. Size nasıl yardımcı olabilirim?',
  ja: 'おはようございます。お電話ありがとうございます。ご用件をどうぞ。',
  zh: '早上好，感谢您的来电。请问有什么可以帮您？',
  ko: '좋은 아침입니다. 전화 주셔서 감사합니다. 무엇을 도와드릴까요?',
};

/** The sentence of the first of these languages that has one; else the English one. */
export const sampleIn = (languages: readonly string[]): string =>
  SAMPLES[languages.find((language) => language in SAMPLES) ?? 'en'] ?? '';
