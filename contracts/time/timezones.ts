import { zoneFormats } from './zone-formats.js';

const known = zoneFormats('en', {});

/** Names of timezones (IANA), for sessions and agents. Offsets like `+01:00` do not count. */
export function isTimezone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    known(name);
    return true;
  } catch {
    return false;
  }
}
