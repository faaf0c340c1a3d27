import { loadFile } from './load-part.ts';

/** Load the style sheet again while the service refuses it. Browsers do not retry. */
export async function loadStyle(): Promise<void> {
  let link = document.querySelector<HTMLLinkElement>('link[rel="stylesheet"]');
  for (let tries = 0; link !== null && !hasRules(link) && tries < maxTries; tries += 1) {
    await loadFile(new URL(link.href).pathname.split('/').pop() ?? '');
    const again = link.cloneNode() as HTMLLinkElement;
    const settled = new Promise((resolve) => {
      for (const end of ['load', 'error']) again.addEventListener(end, resolve, { once: true });
    });
    link.replaceWith(again);
    await settled;
    link = again;
  }
}

/** The request before each waits as long as the service says. */
const maxTries = 5;

/** Whether a style sheet has arrived. Of a refused one browsers report none, an empty one, or one that cannot be read. */
function hasRules({ sheet }: HTMLLinkElement): boolean {
  try {
    return (sheet?.cssRules.length ?? 0) > 0;
  } catch {
    return false;
  }
}
