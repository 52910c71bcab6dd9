import { HomePageWidgetBlueprint } from '@backstage/plugin-home-react/alpha';
import type { ComponentType } from 'react';
import { peopleMessages } from '../people/messages';
import styles from './home.module.css';
import { homeMessages } from './messages';

/** Returns a widget with its own heading instead of a Material UI card. */
function createWidget<Name extends string>(options: {
  name: Name;

  /** Title in the list of available widgets. */
  title: string;
  load: () => Promise<ComponentType>;
}) {
  const { name, title, load } = options;
  return HomePageWidgetBlueprint.make({
    name,
    params: {
      title,
      components: async () => {
        const Widget = await load();
        return { Content: () => <Widget /> };
      },
      componentProps: { Renderer: WidgetFrame },
    },
  });
}

function WidgetFrame({ Content }: { Content: ComponentType }) {
  return (
    <div className={styles.widget}>
      <Content />
    </div>
  );
}

/** Home page widgets, each loaded when it is shown. */
export const homePageWidgets = [
  createWidget({
    name: 'search',
    title: homeMessages.search.title,
    load: () => import('./Search').then(m => m.Search),
  }),
  createWidget({
    name: 'groups',
    title: homeMessages.groups.title,
    load: () => import('./MyGroups').then(m => m.MyGroups),
  }),
  createWidget({
    name: 'certificates',
    title: homeMessages.certificates.title,
    load: () => import('./MyCertificates').then(m => m.MyCertificates),
  }),
  createWidget({
    name: 'recent-people',
    title: homeMessages.recent.title,
    load: () => import('./RecentPeople').then(m => m.RecentPeople),
  }),
  createWidget({
    name: 'colleagues',
    title: peopleMessages.colleagues,
    load: () => import('./Colleagues').then(m => m.Colleagues),
  }),
];
