import { clock } from './clock.ts';
import { agoText, timeText } from './format.ts';

/** Relative time that updates itself, with the exact time on hover. */
export const Ago = ({ time }: { time: string | null }) =>
  time === null ? (
    <>–</>
  ) : (
    <time dateTime={time} title={timeText(time)}>
      {agoText(time, clock.value)}
    </time>
  );
