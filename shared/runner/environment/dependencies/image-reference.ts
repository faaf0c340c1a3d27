const domain =
  /^(?:[A-Za-z0-9]|[A-Za-z0-9][A-Za-z0-9-]*[A-Za-z0-9])(?:\.(?:[A-Za-z0-9]|[A-Za-z0-9][A-Za-z0-9-]*[A-Za-z0-9]))*(?::[0-9]{1,5})?$/;
const component = /^[a-z0-9]+(?:(?:\.|__?|-+)[a-z0-9]+)*$/;
const tagPattern = /^\w[\w.-]{0,127}$/;
const digestPattern = /^[A-Za-z][A-Za-z0-9]*(?:[+._-][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,128}$/;

/**
 * The error of a container image reference, or null. Grammar: `[domain[:port]/]path[/path…][:tag][@digest]` as in the
 * OCI distribution project's reference grammar; the first component is a domain when it has a dot or a colon or is
 * `localhost`; the name has at most 255 characters.
 */
export function imageReferenceFault(reference: string): string | null {
  if (/\s|,/.test(reference)) return 'one image only, without spaces';
  const at = reference.indexOf('@');
  const named = at < 0 ? reference : reference.slice(0, at);
  if (at >= 0 && !digestPattern.test(reference.slice(at + 1))) return 'the digest after @ is malformed';
  const colon = named.indexOf(':', named.lastIndexOf('/') + 1);
  const name = colon < 0 ? named : named.slice(0, colon);
  if (colon >= 0 && !tagPattern.test(named.slice(colon + 1))) return 'the tag after : is malformed';
  if (name.length > 255) return 'the image name has more than 255 characters';
  const parts = name.split('/');
  const first = parts[0] ?? '';
  const hasDomain = parts.length > 1 && (/[.:]/.test(first) || first === 'localhost');
  if (hasDomain && !domain.test(first)) return 'the registry host is malformed';
  const path = hasDomain ? parts.slice(1) : parts;
  if (!path.every((part) => component.test(part)))
    return 'not an image name (lower-case, like registry/name:tag)';
  return null;
}
