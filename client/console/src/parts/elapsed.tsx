/** Time since this part was first shown. */
import { useEffect, useState } from 'preact/hooks';
import { lengthText } from '../format.js';

export function Elapsed() {
  const [seconds, setSeconds] = useState(0);
  useEffect(() => {
    const began = performance.now();
    const timer = setInterval(() => setSeconds((performance.now() - began) / 1000), 500);
    return () => clearInterval(timer);
  }, []);
  return (
    <span class="clock" role="timer">
      {lengthText(seconds)}
    </span>
  );
}
