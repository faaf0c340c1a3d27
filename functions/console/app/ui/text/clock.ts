import { signal } from '@preact/signals';

/** Present time, updated every few seconds, for texts such as "5 min ago". */
export const clock = signal(Date.now());

setInterval(() => {
  if (!document.hidden) clock.value = Date.now();
}, 5_000);
