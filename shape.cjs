const names='username surname givenname human_name emails ircnicks locale timezone gpgkeyids sshpubkeys certificates creation is_private locked github_username gitlab_username pronouns rhbzemail websites rssurls'.split(' ');
function make(kind){
 let shape; if(kind==='json') shape=JSON.parse(JSON.stringify(Object.fromEntries(names.map(n=>[n,null]))));
 if(kind==='entries') shape=Object.fromEntries(names.map(n=>[n,undefined]));
 if(kind==='class'){ shape=null; }
 const out=[];
 gc();const h0=process.memoryUsage().heapUsed;
 const t=performance.now();
 for(let i=0;i<20000;i++){
  let r; if(kind==='keyed'){r={};for(const n of names)r[n]=undefined;}
  else if(kind==='fromEntries') r=Object.fromEntries(names.map(n=>[n,undefined]));
  else r={...shape};
  for(const n of names) r[n]= n==='username'?'x'+i: n==='locked'?(i%3?true:undefined):undefined;
  out.push(r);
 }
 const ms=performance.now()-t;
 gc();const h1=process.memoryUsage().heapUsed;
 console.log(kind,%HasFastProperties(out[5]),%HasFastProperties(shape||{}),((h1-h0)/20000).toFixed(0),'bytes',ms.toFixed(1));
 return out;
}
for(const k of ['keyed','json','entries','fromEntries'])make(k);
