/** A model of the Hub. The service checks both parts. */
export interface HubAddress {
  hf: string;
  /** Branch, tag or commit; undefined for the main branch. */
  revision: string | undefined;
}

/**
 * Read the address of a model as people write it, `OWNER/NAME@REVISION` with or without `hf://`, or as they copy it from the page
 * of the model or of one of its files.
 * @returns undefined for anything else
 * @example
 * hubAddress('https://huggingface.co/an-owner/a-model/tree/v1') // { hf: 'an-owner/a-model', revision: 'v1' }
 */
export function hubAddress(text: string): HubAddress | undefined {
  const parts = (pageOfHub.exec(text.trim()) ?? written.exec(text.trim()))?.groups;
  if (parts?.['hf'] === undefined) return undefined;
  // A branch with a slash is encoded in the address of a page.
  return { hf: parts['hf'], revision: parts['revision']?.replaceAll(/%2f/gi, '/') };
}

const model = String.raw`(?<hf>\w[\w.-]*(?:\/\w[\w.-]*)?)`;
const written = new RegExp(String.raw`^(?:hf:\/\/)?${model}(?:@(?<revision>\w[\w.\/-]*))?$`);
const pageOfHub = new RegExp(
  String.raw`^(?:https?:\/\/)?(?:www\.)?(?:huggingface\.co|hf\.co)\/${model}(?:\/(?:tree|blob|resolve)\/(?<revision>\w[\w.%-]*)(?:\/[^?#]*)?)?\/?(?:[?#].*)?$`,
  'i',
);
