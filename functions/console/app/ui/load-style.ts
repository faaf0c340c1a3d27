import { loadFile } from './load-part.ts';

/** Load the style sheet again if the service refused it. Browsers do not retry. */
export async function loadStyle(): Promise<void> {
  const link = document.querySelector<HTMLLinkElement>('link[rel="stylesheet"]');
  if (link === null || hasRules(link)) return;
  const text = await loadFile(new URL(link.href).pathname.split('/').pop() ?? '');
  // A second link would be a second request, which may be refused like the first.
  const sheet = new CSSStyleSheet();
  await sheet.replace(new TextDecoder().decode(text));
  document.adoptedStyleSheets = [sheet];
}

/** Whether a style sheet has arrived. Of a refused one browsers report none, an empty one, or one that cannot be read. */
function hasRules({ sheet }: HTMLLinkElement): boolean {
  try {
    return (sheet?.cssRules.length ?? 0) > 0;
  } catch {
    return false;
  }
}
