import { describe, expect, test } from 'vitest';
import { packageIndexFault } from '../../../shared/core/package-index-fault.ts';
import { PackageIndexes } from '../../../shared/core/package-indexes.ts';

const usual = PackageIndexes.parse(undefined);

describe('package indexes', () => {
  test('the usual ones are allowed unless a deployment says otherwise', () => {
    for (const url of [
      'https://pypi.org/simple',
      'https://PYPI.org:443/simple',
      'https://download.pytorch.org/whl/cu128',
      'https://pypi.nvidia.com',
    ]) {
      expect(packageIndexFault(url, usual)).toBeNull();
    }
  });

  test.each([
    ['https://evil.example/simple', 'evil.example is not an allowed package index'],
    ['https://pypi.org.evil.example', 'pypi.org.evil.example'],
    ['https://evil.example/pypi.org', 'evil.example'],
    ['http://pypi.org/simple', 'http://pypi.org'],
    ['https://pypi.org:8443/simple', 'pypi.org:8443'],
    ['https://169.254.169.254/', '169.254.169.254'],
  ])('%s is named, with what is allowed', (url, named) => {
    const fault = packageIndexFault(url, usual);
    expect(fault).toContain(named);
    expect(fault).toContain('allowed are pypi.org, test.pypi.org, download.pytorch.org');
  });

  test("hosts of one's own, with port and without TLS", () => {
    const own = PackageIndexes.parse(' index.internal, http://10.0.0.1:8080,');
    expect(own).toEqual(['index.internal', 'http://10.0.0.1:8080']);
    expect(packageIndexFault('https://index.internal/simple', own)).toBeNull();
    expect(packageIndexFault('http://10.0.0.1:8080/simple', own)).toBeNull();
    expect(packageIndexFault('http://10.0.0.1/simple', own)).toContain('http://10.0.0.1 is no');
    expect(packageIndexFault('https://pypi.org', PackageIndexes.parse(''))).toContain('none is');
  });

  test.each(['https://pypi.org/simple', 'a b', 'user:pass@host', 'ftp://host', '*', 'host:99999'])(
    '%j is no entry',
    (text) => {
      expect(PackageIndexes.safeParse(text).success).toBe(false);
    },
  );
});
