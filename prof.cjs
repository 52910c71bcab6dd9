const p=JSON.parse(require('fs').readFileSync(process.argv[2]));const self=new Map();const nodes=new Map(p.nodes.map(n=>[n.id,n]));
const par=new Map();for(const n of p.nodes)for(const c of n.children||[])par.set(c,n.id);
let tot=0;const incl=new Map();
p.samples.forEach((id,i)=>{const dt=p.timeDeltas[i]/1000;const n=nodes.get(id);const k=n.callFrame.functionName+' '+n.callFrame.url.split('/').slice(-2).join('/')+':'+n.callFrame.lineNumber;self.set(k,(self.get(k)||0)+dt);tot+=dt;
 const seen=new Set();for(let x=id;x;x=par.get(x)){const f=nodes.get(x).callFrame;const kk=f.functionName+' '+f.url.split('/').slice(-2).join('/')+':'+f.lineNumber;if(!seen.has(kk)){seen.add(kk);incl.set(kk,(incl.get(kk)||0)+dt)}}});
console.log('total',tot);for(const [k,v] of [...self].sort((a,b)=>b[1]-a[1]).slice(0,28))console.log(v.toFixed(0).padStart(7),k);
console.log('--- inclusive');for(const [k,v] of [...incl].sort((a,b)=>b[1]-a[1]).slice(0,40))console.log(v.toFixed(0).padStart(7),k);
// longest runs without idle
const runs=[];let cur=0,acc=new Map();p.samples.forEach((id,i)=>{const n=nodes.get(id).callFrame.functionName;const dt=p.timeDeltas[i]/1000;if(n==='(idle)'||n==='(program)'&&dt>5){if(cur>60)runs.push([cur,[...acc].sort((a,b)=>b[1]-a[1]).slice(0,7)]);cur=0;acc=new Map()}else{cur+=dt;acc.set(n,(acc.get(n)||0)+dt)}});
console.log('--- runs');for(const r of runs.sort((a,b)=>b[0]-a[0]).slice(0,6))console.log(r[0].toFixed(0),r[1].map(x=>x[0]+' '+x[1].toFixed(0)).join(', '));
