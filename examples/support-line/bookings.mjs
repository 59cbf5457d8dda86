/** The booking service, as one of yours would be: it takes bookings over HTTP and refuses a boat that is taken. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';

/** Calls of the gateway carry an `Idempotency-Key`: the same order sent twice gets the same answer. */
function bookingsBook() {
  const taken = new Map();
  const answers = new Map();
  const book = ({ boat, day, time, name }) => {
    const place = `${boat} ${day} ${time}`.toLowerCase();
    if (taken.has(place)) return { booked: false, reason: `The ${boat} is taken on ${day} at ${time}` };
    taken.set(place, name);
    return { booked: true, number: taken.size, boat, day, time, name };
  };
  return (key, booking) => {
    const answer = answers.get(key) ?? book(booking);
    if (key) answers.set(key, answer);
    return answer;
  };
}

export async function startBookings(port) {
  const book = bookingsBook();
  const server = createServer(async (request, response) => {
    if (request.method !== 'POST' || request.url !== '/bookings') return response.writeHead(404).end();
    const answer = book(request.headers['idempotency-key'], JSON.parse(await text(request)));
    console.log(`booking: ${JSON.stringify(answer)}`);
    response.setHeader('content-type', 'application/json').end(JSON.stringify(answer));
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return { address: `http://127.0.0.1:${server.address().port}`, stop: () => server.close() };
}
