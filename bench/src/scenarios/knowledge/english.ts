/** Four sources in English. */
import { direct, followUp, paraphrase, type Source } from './corpus.js';

const DENTIST = `# Harbour Dental Practice

## Opening hours
The practice is open Monday to Thursday from 8 in the morning to 6 in the evening, and on Fridays until 1. We are closed at weekends.

## Emergencies
Patients in acute pain are seen the same day. Ring before 9 and we keep a chair free for you; at night the hospital on Quay Street takes over.

## First visit
Please come fifteen minutes early to fill in the medical history form, and bring your insurance card and a list of the medicines you take.

## Check-ups and cleaning
We recommend a check-up twice a year. A professional cleaning takes forty-five minutes and costs 85 pounds, which most insurers do not refund.

## Cancelling an appointment
Appointments can be cancelled free of charge up to 24 hours before. Later we charge 40 pounds for the time that was kept.

## Children
Dr Okafor treats children from the age of two. A parent has to be in the room until they are twelve.

## Anxiety
Nervous patients may ask for laughing gas. It costs 60 pounds an hour and wears off within ten minutes, so that you can drive afterwards.

## Implants and crowns
An implant is planned over three visits within four months. A ceramic crown is made in our own laboratory within a week and is guaranteed for five years.

## Parking and access
There are six spaces behind the house. The entrance in Mill Lane has a ramp, and the lift reaches all floors.

## Payment
We take cards and bank transfers, no cheques. Treatments above 500 pounds may be paid in monthly instalments without interest.
`;

const BICYCLES = `# Alder Bike Hire

## Prices
A city bike costs 14 euros a day and 70 euros a week. An electric bike costs 32 euros a day.

## Deposit
We block 150 euros on your credit card as a deposit and release it within two days after the bike is back.

## What is included
Every rental comes with a lock, a helmet, a repair kit and front and rear lights. Panniers are 3 euros extra.

## Children's seats and trailers
A seat for a child up to 22 kilograms is free. A trailer for two children costs 9 euros a day and has to be reserved.

## Breakdown
If you have a flat tyre or the chain breaks, call our service line. Within 20 kilometres we bring another bike within an hour.

## Theft
If the bike is stolen, tell the police and us at once. With the theft cover of 4 euros a day you pay no more than 100 euros, without it the value of the bike.

## Returning late
The first half hour is on us. After that each started hour costs 5 euros; bikes are returned at the shop or in the box beside it at night.

## Guided tours
On Saturdays at ten Lena leads a tour through the vineyards, 35 kilometres with a tasting. It costs 45 euros and needs at least four riders.

## Batteries
A full battery lasts for about 80 kilometres in eco mode. Chargers may be taken along; charging takes four hours.

## Groups
Ten or more bikes get 15 percent off. Please send us the body heights of all riders three days ahead.
`;

const PARCELS = `# Northgate Parcels

## Tracking
The tracking number has twelve digits and stands on your receipt. The status is refreshed every two hours.

## Delivery times
Parcels within the country arrive on the next working day, to islands in three days. Express arrives before noon.

## Nobody at home
If nobody opens, the driver leaves a card and tries again on the following day. After the second attempt the parcel waits in the nearest shop for ten days.

## Leaving with a neighbour
In the app you can name a neighbour or a safe place such as a shed. We then do not ask for a signature.

## Size and weight
A parcel may weigh up to 31 kilograms and measure at most 120 by 60 by 60 centimetres. Larger goods travel as freight.

## Forbidden contents
Aerosols, loose lithium batteries, cash, live animals and anything flammable must not be sent.

## Damage
Photograph the box and the contents and report the damage within seven days. We refund up to 500 pounds, more if the parcel was insured.

## Returns
Returns are free for shops that are our partners: print the label at home or show the code at the counter, where it is printed for you.

## Customs
Parcels to countries outside of the union need the form CN23 and three copies of the invoice. Duties are paid by the recipient.

## Redirecting
Until eight in the evening before delivery you may change the address once, within the same town, for 2 pounds.
`;

const HOTEL = `# Maple Court Hotel

## Arrival and departure
Rooms are ready from three in the afternoon. On the day you leave, please hand in your key by eleven; until two it is 20 dollars more.

## Breakfast
Breakfast is served from 6:30 to 10:30, on Sundays until noon. It costs 18 dollars, and half of that for guests under twelve.

## Wireless network
The network is called MapleGuest. The password is on the back of your key card; it is fast enough for films and free of charge.

## Pets
Dogs up to 20 kilograms stay for 15 dollars a night. They are not allowed in the restaurant or at the pool.

## Pool and sauna
The pool on the roof is heated and open from 7 to 22. The sauna is switched on when asked for at reception; towels lie ready there.

## Garage
The garage under the building costs 24 dollars a night. It is 1.9 metres high, and four spaces have charging points.

## Airport shuttle
Our van goes to the airport each hour from five to eleven in the evening. The ride takes 25 minutes and is free with a reservation.

## Quiet
From ten at night on we ask for silence in the corridors. Parties in the rooms are not allowed.

## Lost property
What is found in a room is kept for six months. We send it after you; you only pay the postage.

## Accessible rooms
Rooms 101 to 106 have wide doors, handrails and a shower without a step. The vibrating alarm for deaf guests is lent at reception.
`;

export const ENGLISH: readonly Source[] = [
  {
    language: 'en',
    name: 'Harbour Dental Practice',
    text: DENTIST,
    questions: [
      direct('Can I cancel an appointment free of charge?', 'Later we charge 40 pounds'),
      direct('How long does a professional cleaning take?', 'forty-five minutes'),
      paraphrase("I'm really scared of the drill, is there anything you can give me?", 'laughing gas'),
      paraphrase('My tooth is killing me, can somebody look at it today?', 'seen the same day'),
      followUp(
        'Do you make ceramic crowns?',
        'And how long is that guaranteed for?',
        'guaranteed for five years',
      ),
      followUp(
        'My daughter needs to see a dentist.',
        'From what age on, and do I have to stay with her?',
        'from the age of two',
      ),
    ],
  },
  {
    language: 'en',
    name: 'Alder Bike Hire',
    text: BICYCLES,
    questions: [
      direct('How much is an electric bike for one day?', '32 euros a day'),
      direct('What happens if the bike gets stolen?', 'theft cover of 4 euros'),
      paraphrase("I've got a puncture in the middle of nowhere. Can you help me?", 'Within 20 kilometres'),
      paraphrase('Do I get something for my head with it?', 'a helmet'),
      followUp(
        'Is there a guided tour through the vineyards?',
        'What does it cost, and when does it start?',
        'On Saturdays at ten',
      ),
      followUp(
        'How far do I get with one battery?',
        'And how long until it is full again?',
        'charging takes four hours',
      ),
    ],
  },
  {
    language: 'en',
    name: 'Northgate Parcels',
    text: PARCELS,
    questions: [
      direct('What is the maximum weight of a parcel?', 'up to 31 kilograms'),
      direct('Which form does customs want for countries outside the union?', 'CN23'),
      paraphrase('The vase that you brought me is in pieces. Do I get my money back?', 'within seven days'),
      paraphrase(
        "I won't be in when the driver comes. What do you do then?",
        'tries again on the following day',
      ),
      followUp(
        'Can my parcel be left with a neighbour?',
        'Will they have to sign for it?',
        'a safe place such as a shed',
      ),
      followUp(
        'I would like to send the parcel to another address.',
        'Until when can I still change it?',
        'Until eight in the evening',
      ),
    ],
  },
  {
    language: 'en',
    name: 'Maple Court Hotel',
    text: HOTEL,
    questions: [
      direct('Where do I find the password of the wireless network?', 'MapleGuest'),
      direct('Are dogs allowed in the hotel?', 'up to 20 kilograms'),
      paraphrase('When do we have to be out of the room on our last day?', 'hand in your key by eleven'),
      paraphrase('I forgot my necklace in your room last week. Do you still have it?', 'kept for six months'),
      followUp(
        'Is there a shuttle to the airport?',
        'How often does it run, and what do I pay?',
        'each hour from five to eleven',
      ),
      followUp(
        'I use a wheelchair.',
        'Do you have a room that fits, with a shower I can get into?',
        'Rooms 101 to 106',
      ),
    ],
  },
];
