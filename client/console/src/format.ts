/** Formats moments, durations and numbers for people, as the browser's language has them. */
const DAY = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' });
const DAY_OF_YEAR = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', year: 'numeric' });
const TIME = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
});

/** Nov 23, 14:05:12; with the year if it is not the current one. */
export const momentText = (iso: string | null): string => {
  if (iso === null) return '–';
  const date = new Date(iso);
  const day = date.getFullYear() === new Date().getFullYear() ? DAY : DAY_OF_YEAR;
  return `${day.format(date)}, ${TIME.format(date)}`;
};

const CLOCK = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });

/** 14:05 */
export const clockText = (iso: string | undefined): string =>
  iso === undefined ? '' : CLOCK.format(new Date(iso));

/** 0:07, 12:03, 1:00:09. */
export function lengthText(seconds: number | null): string {
  if (seconds === null) return '–';
  const whole = Math.floor(seconds);
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60];
  const rest = String(whole % 60).padStart(2, '0');
  return hours > 0 ? `${hours}:${String(minutes).padStart(2, '0')}:${rest}` : `${minutes}:${rest}`;
}

/** 5,000; 0.4. At most three places behind the point. */
export const numberText = (value: number): string => value.toLocaleString();

/** Always with so many places behind the point: 1.0. */
export const placesText = (value: number, places: number): string =>
  value.toLocaleString(undefined, { minimumFractionDigits: places, maximumFractionDigits: places });

/** An amount of money: to the cent, or to what is left of less. */
export const amountText = (amount: number): string =>
  amount === 0 || amount >= 0.1
    ? placesText(amount, 2)
    : amount.toLocaleString(undefined, { maximumSignificantDigits: 2 });

export const msText = (ms: number | null | undefined): string =>
  ms === null || ms === undefined ? '–' : `${numberText(Math.round(ms))} ms`;

export const bytesText = (bytes: number): string =>
  bytes < 1024
    ? `${bytes} B`
    : bytes < 1 << 20
      ? `${placesText(bytes / 1024, 1)} KB`
      : `${placesText(bytes / (1 << 20), 1)} MB`;

/** `user_hangup` as words. */
export const spaced = (name: string): string => name.replaceAll('_', ' ');
