import AxeBuilder from '@axe-core/playwright';
import { appearances } from './appearances';
import { openScene } from './openScene';
import { scenes } from './scenes';
import { expect, test } from './test';

for (const scene of scenes) {
  for (const appearance of appearances) {
    test(`${scene.name}, ${appearance.name}: axe finds nothing, nothing is cut off`, async ({
      portal,
      visit,
    }) => {
      const page = await openScene({ scene, appearance, portal, visit });

      const { violations } = await new AxeBuilder({ page }).analyze();

      expect(
        violations.flatMap(({ id, nodes }) =>
          nodes.map(({ target, failureSummary }) => ({
            ...{ id, target, failureSummary },
          })),
        ),
      ).toEqual([]);
      await expect(page.getByRole('heading', { level: 1 })).toHaveCount(1);
      const overflow = await page.evaluate(
        () => document.documentElement.scrollWidth - window.innerWidth,
      );
      expect(overflow).toBeLessThanOrEqual(0);
    });
  }
}
