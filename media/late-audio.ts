/**
 * Audio of a user that comes late, and then all at once, was spoken while it was held up, by a network or a busy machine: so much of it
 * is heard at once, in milliseconds. What comes later than that was not sent while it was spoken, but is a recording.
 */
export const LATE_AUDIO_MS = 5000;

/** By how much audio may be ahead of the time in which it is spoken, that which is late taken together with it. */
export const MOST_EARLY_MS = 3000 + LATE_AUDIO_MS;
