import { loadFile } from './load-part.ts';

/** Load the style sheet again where the service refused it; a browser does not try a second time. */
export async function loadStyle(): Promise<void> {
  const link = document.querySelector<HTMLLinkElement>('link[rel="stylesheet"]');
  // A refusal is no style sheet to some browsers, and an empty one to others.
  if (link === null || (link.sheet?.cssRules.length ?? 0) > 0) return;
  await loadFile(new URL(link.href).pathname.split('/').pop() ?? '');
  const again = link.cloneNode() as HTMLLinkElement;
  link.replaceWith(again);
}
