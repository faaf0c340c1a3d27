import { loadFile } from './load-part.ts';

/** Load the style sheet again if the service refused it. Browsers do not retry. */
export async function loadStyle(): Promise<void> {
  const link = document.querySelector<HTMLLinkElement>('link[rel="stylesheet"]');
  // After a refusal, some browsers report no style sheet, others an empty one.
  if (link === null || (link.sheet?.cssRules.length ?? 0) > 0) return;
  await loadFile(new URL(link.href).pathname.split('/').pop() ?? '');
  const again = link.cloneNode() as HTMLLinkElement;
  const loaded = new Promise((resolve) => again.addEventListener('load', resolve, { once: true }));
  link.replaceWith(again);
  await loaded;
}
