/** Fifty sentences a caller might hear. None has figures, which recognisers spell in several ways. */
export const SENTENCES: readonly string[] = `
Thank you for calling, how can I help you today.
Your order was sent this morning and should arrive on Monday.
Please hold the line while I look for your account.
The weather tomorrow will be warm with a little rain in the evening.
I am sorry, but we do not have that color in stock.
Could you please tell me your name and your address.
The meeting has been moved to Thursday afternoon.
We are open every day except Sunday.
The driver left your package with the neighbor.
Let me check whether that table is still free.
Your payment has been received and your invoice is on the way.
The train to the airport leaves from the other platform.
Please bring your passport and a printed copy of the letter.
I will send you a message as soon as the car is ready.
The doctor can see you early next week.
Turn left at the second light and drive past the church.
Our kitchen closes late on Friday and Saturday.
You can change your password in the settings of your profile.
The water in the lake is cold but very clear.
She bought fresh bread, butter and a bottle of milk.
The children are playing football behind the school.
He forgot his umbrella in the office again.
This coffee tastes better than the one we had yesterday.
My brother works as a nurse in a large hospital.
They painted the kitchen yellow and the bedroom green.
The old bridge is closed because of the storm.
We will call you back before the end of the day.
The library has a quiet room for students.
Please do not leave your bags without attention.
A good night of sleep makes a great difference.
The museum shows pictures by young artists from the city.
I would like to rent a small car for the weekend.
Her flight was late, so she missed the dinner.
The shop around the corner sells flowers and cards.
Do you want to pay by card or in cash.
The new phone comes with a longer warranty.
There is a problem with the heating in our room.
We planted apple trees along the garden wall.
The engineer explained how the machine works.
Please sign the form and return it by mail.
The soup needs a little more salt and pepper.
His answer was short, friendly and clear.
The company will open another office in spring.
You should drink more water when it is hot.
The last bus to the village leaves at midnight.
I have never seen so many stars in the sky.
The teacher asked us to write a story about the sea.
We can repair the window while you wait.
Your appointment is confirmed, and we look forward to seeing you.
Have a wonderful day, and thank you for your patience.
`
  .trim()
  .split('\n');
