import { signal } from '@preact/signals';

/** The present moment, to the nearest few seconds, by which texts such as "5 min ago" move. */
export const clock = signal(Date.now());

setInterval(() => {
  if (!document.hidden) clock.value = Date.now();
}, 5_000);
