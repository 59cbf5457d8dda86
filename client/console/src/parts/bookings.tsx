/** A client tool that the console answers itself, so that an agent can book before anybody has written a program. */
import { useMemo, useState } from 'preact/hooks';
import type { ClientTools } from '../../../src/tools.js';

export const BOOKING_TOOL = 'book_appointment';

export const bookingTexts = {
  title: 'Bookings',
  help: 'The agent’s tool made these in this page; your own program would write them into a calendar.',
  none: 'What the agent books appears here.',
  booked: ({ day, time, name }: Booking) => `Booked for ${name}, ${day}, ${time}`,
} as const;

export interface Booking {
  readonly day: string;
  readonly time: string;
  readonly name: string;
}

/** More than anybody books in one call. */
const MOST = 50;
const LONGEST = 200;

const said = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value).slice(0, LONGEST) : '–';

/** The bookings of this page, and the tool that makes them. */
export function useBookings() {
  const [bookings, setBookings] = useState<readonly Booking[]>([]);
  const tools: ClientTools = useMemo(
    () => ({
      [BOOKING_TOOL]: ({ day, time, name }) => {
        const booking = { day: said(day), time: said(time), name: said(name) };
        setBookings((before) => [...before, booking].slice(-MOST));
        return bookingTexts.booked(booking);
      },
    }),
    [],
  );
  return { bookings, tools };
}

export const Bookings = ({ bookings }: { readonly bookings: readonly Booking[] }) => (
  <section class="panel stack tight">
    <h2>{bookingTexts.title}</h2>
    <p class="soft">{bookings.length === 0 ? bookingTexts.none : bookingTexts.help}</p>
    <div role="log" aria-label={bookingTexts.title}>
      <ul class="stack tight">
        {bookings.map((booking, index) => (
          <li key={index}>{bookingTexts.booked(booking)}</li>
        ))}
      </ul>
    </div>
  </section>
);
