/**
 * Numbers whose calls cost the caller extra and earn the called party money: what stolen keys are used for. Their ranges are the
 * countries' own, and stand in their national numbering plans (ITU-T E.164 lists these).
 */

/** Country code → beginnings of its premium numbers after it. */
const PREMIUM: Readonly<Record<string, readonly string[]>> = {
  '1': ['900'],
  '7': ['809'],
  '31': ['900', '906', '909'],
  '32': ['90'],
  '33': ['89'],
  '34': ['803', '806', '807', '905', '907'],
  '39': ['89'],
  '41': ['900', '901', '906'],
  '43': ['900', '901', '930', '931', '939'],
  '44': ['9', '871', '872', '873'],
  '45': ['90'],
  '46': ['900', '939', '944'],
  '47': ['820', '829'],
  '48': ['70'],
  '49': ['137', '900'],
  '55': ['900'],
  '61': ['190'],
  '81': ['990'],
  '82': ['60'],
  '351': ['601', '607', '646', '648', '760', '761', '762'],
  '358': ['600', '700'],
  '420': ['90'],
  /** International premium rate service, of no country. */
  '979': [''],
};

const BEGINNINGS = Object.entries(PREMIUM).flatMap(([country, ranges]) =>
  ranges.map((range) => `+${country}${range}`),
);

/** Whether an address of `writtenAddress` is a premium number. Addresses of SIP are not. */
export const isPremium = (address: string): boolean =>
  BEGINNINGS.some((beginning) => address.startsWith(beginning));
