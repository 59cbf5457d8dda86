/** Formats moments and durations for people. */
const DAY = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short' });
const DAY_OF_YEAR = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short', year: 'numeric' });
const TIME = new Intl.DateTimeFormat('en', {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
});

/** Nov 23, 14:05:12; with the year if it is not the current one. */
export const momentText = (iso: string | null): string => {
  if (iso === null) return '–';
  const date = new Date(iso);
  const day = date.getFullYear() === new Date().getFullYear() ? DAY : DAY_OF_YEAR;
  return `${day.format(date)}, ${TIME.format(date)}`;
};

const CLOCK = new Intl.DateTimeFormat('en', { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });

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

export const msText = (ms: number | null | undefined): string =>
  ms === null || ms === undefined ? '–' : `${Math.round(ms).toLocaleString('en')} ms`;

export const bytesText = (bytes: number): string =>
  bytes < 1024
    ? `${bytes} B`
    : bytes < 1 << 20
      ? `${(bytes / 1024).toFixed(1)} KB`
      : `${(bytes / (1 << 20)).toFixed(1)} MB`;

/** `user_hangup` as words. */
export const spaced = (name: string): string => name.replaceAll('_', ' ');
